"""The tables of version 1.

`memories` keeps pi-noodle's columns under their names, so that its programs can still read and write them; Clew's own
follow. The row number is an integer of ours, because full text and change log need one that is never reused.

`lexical` holds what full text indexes when that differs from the text (see `clew.store.terms`): NULL = not prepared
yet, because another program wrote the row; empty = the text itself. Times are milliseconds since 1970, UTC.
"""

from __future__ import annotations

_TABLES = """
CREATE TABLE memories(
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  embedding F32_BLOB(384)
    CHECK(embedding IS NULL OR (typeof(embedding) = 'blob' AND length(embedding) % 4 = 0)),
  category TEXT NOT NULL DEFAULT 'memory',
  categories TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(categories)),
  user_id TEXT,
  assistant_id TEXT,
  session_id TEXT,
  metadata TEXT NOT NULL DEFAULT '{}' CHECK(json_valid(metadata)),
  created_at INTEGER NOT NULL,
  last_retrieved INTEGER,
  retrieval_count INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL DEFAULT 0,
  scope TEXT NOT NULL DEFAULT 'user',
  project_key TEXT,
  speaker TEXT,
  provenance TEXT,
  embedding_model TEXT,
  lexical TEXT,
  text_key TEXT,
  state TEXT NOT NULL DEFAULT 'active',
  superseded_by TEXT,
  pinned INTEGER NOT NULL DEFAULT 0,
  seen_count INTEGER NOT NULL DEFAULT 1);
CREATE INDEX memories_newest ON memories(created_at DESC, row DESC);
CREATE INDEX memories_text_key ON memories(text_key);
CREATE INDEX memories_scope ON memories(assistant_id, user_id);
CREATE INDEX memories_without_vector ON memories(row) WHERE embedding IS NULL;
CREATE INDEX memories_unprepared ON memories(row) WHERE lexical IS NULL;
CREATE INDEX memories_session ON memories(session_id, created_at, row) WHERE session_id IS NOT NULL;
CREATE INDEX memories_speaker ON memories(speaker) WHERE speaker IS NOT NULL;

CREATE TABLE memory_history(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_id TEXT NOT NULL,
  event TEXT NOT NULL CHECK(event IN ('changed', 'forgotten', 'revived')),
  text TEXT, text_key TEXT, category TEXT, metadata TEXT,
  at INTEGER NOT NULL);
CREATE INDEX memory_history_memory ON memory_history(memory_id);

CREATE TABLE tombstones(text_key TEXT PRIMARY KEY, memory_id TEXT NOT NULL, at INTEGER NOT NULL);

CREATE TABLE journal(
  key TEXT PRIMARY KEY,
  entry_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  project_key TEXT,
  state TEXT NOT NULL CHECK(json_valid(state)),
  timestamp INTEGER NOT NULL,
  secret_kinds TEXT NOT NULL DEFAULT '[]' CHECK(json_valid(secret_kinds)),
  is_open INTEGER NOT NULL DEFAULT 0,
  owner INTEGER NOT NULL DEFAULT 0,
  captured_at INTEGER NOT NULL);
CREATE INDEX journal_oldest ON journal(timestamp, key);

CREATE TABLE judged(
  key TEXT PRIMARY KEY,
  entry_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  scores TEXT NOT NULL DEFAULT '{}' CHECK(json_valid(scores)),
  target TEXT NOT NULL,
  duration_ms REAL NOT NULL,
  decision_model TEXT NOT NULL,
  memory_id TEXT,
  candidate_id TEXT,
  judged_at INTEGER NOT NULL);
CREATE INDEX judged_candidate ON judged(candidate_id) WHERE candidate_id IS NOT NULL;

CREATE TABLE inbox(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  text_key TEXT NOT NULL,
  category TEXT NOT NULL,
  scope TEXT NOT NULL,
  project_key TEXT,
  session_id TEXT,
  entry_id TEXT,
  scores TEXT NOT NULL DEFAULT '{}' CHECK(json_valid(scores)),
  reason TEXT NOT NULL,
  decision_model TEXT,
  queued_at INTEGER NOT NULL,
  seen_count INTEGER NOT NULL DEFAULT 1);

CREATE TABLE rejected(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT NOT NULL, text_key TEXT NOT NULL, reason TEXT NOT NULL, rejected_at INTEGER NOT NULL);

CREATE TABLE clew_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

# Whatever a search reads of a row: a derived index replays these row numbers in the order of their commits.
_CHANGE_LOG = """
CREATE TABLE memory_log(seq INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL);
CREATE TRIGGER memory_log_insert AFTER INSERT ON memories
  BEGIN INSERT INTO memory_log(row) VALUES(new.row); END;
CREATE TRIGGER memory_log_update AFTER UPDATE OF
  embedding, embedding_model, state, text, scope, project_key, session_id, created_at, speaker, category, categories,
  user_id, assistant_id ON memories
  BEGIN INSERT INTO memory_log(row) VALUES(new.row); END;
CREATE TRIGGER memory_log_delete AFTER DELETE ON memories
  BEGIN INSERT INTO memory_log(row) VALUES(old.row); END;
"""

# 'secure-delete' takes the words of a deleted row out of the index at once instead of marking them deleted.
_FULL_TEXT = """
CREATE VIEW memory_fts_source AS SELECT row, coalesce(nullif(lexical, ''), text) AS text FROM memories;
CREATE VIRTUAL TABLE memory_fts USING fts5(
  text, content='memory_fts_source', content_rowid='row', tokenize='porter unicode61 remove_diacritics 2');
INSERT INTO memory_fts(memory_fts, rank) VALUES('secure-delete', 1);
CREATE TRIGGER memory_fts_insert AFTER INSERT ON memories BEGIN
  INSERT INTO memory_fts(rowid, text) VALUES(new.row, coalesce(nullif(new.lexical, ''), new.text));
END;
CREATE TRIGGER memory_fts_update AFTER UPDATE OF text, lexical ON memories BEGIN
  INSERT INTO memory_fts(memory_fts, rowid, text)
    VALUES('delete', old.row, coalesce(nullif(old.lexical, ''), old.text));
  INSERT INTO memory_fts(rowid, text) VALUES(new.row, coalesce(nullif(new.lexical, ''), new.text));
END;
CREATE TRIGGER memory_fts_delete AFTER DELETE ON memories BEGIN
  INSERT INTO memory_fts(memory_fts, rowid, text)
    VALUES('delete', old.row, coalesce(nullif(old.lexical, ''), old.text));
END;
"""

VERSION_1 = _TABLES + _CHANGE_LOG + _FULL_TEXT
