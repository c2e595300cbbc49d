from __future__ import annotations

import json

import pytest

from clew.core.records import NewMemory, Provenance, Visibility
from clew.hosts.pi.protocol import TOOLS, ToolParams
from clew.hosts.pi.tools import Tools
from clew.hosts.pi.wire import to_json
from clew.memory.filters import REWORDED_MARK, is_auto_saved
from clew.memory.inbox import mark_reviewed
from clew.store.store import Store

PROJECT = "example.org/ada/shop"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "memories.db") as opened:
        yield opened


@pytest.fixture
def call(store):
    tools = Tools(store, session_id="s1", project_key=PROJECT)

    def run(name, **arguments):
        return tools.run(ToolParams(name=name, arguments=arguments))

    return run


def add(store, text, **more):
    return store.add(NewMemory(text=text, provenance=Provenance(origin="library"), **more)).memory


def test_every_declared_tool_is_carried_out(store):
    tools = Tools(store, session_id="s1", project_key=PROJECT)
    results = [tools.run(ToolParams(name=tool.name, arguments={})) for tool in TOOLS]
    assert not any("There is no tool" in result.text for result in results)


def test_no_tool_sees_or_answers_what_waits_for_review():
    assert {tool.name for tool in TOOLS} == {
        "memory_add",
        "memory_search",
        "memory_list",
        "memory_get",
        "memory_update",
        "memory_delete",
    }


def test_add_saves_at_once_and_says_so_as_text_and_details(store, call):
    result = call("memory_add", text="  The API is versioned. ", category="memory", metadata={"a": 1})
    (memory,) = store.list(Visibility(everywhere=True))
    assert result.details == {"queued": False, "saved": True, "id": memory.id}
    assert json.loads(result.text) == result.details
    assert (memory.text, memory.category, memory.scope) == ("The API is versioned.", "memory", "user")
    assert (memory.provenance.origin, memory.provenance.session_id) == ("tool", "s1")
    assert memory.metadata == {"a": 1}


def test_a_project_fact_is_saved_for_the_current_project(store, call):
    memory = store.get(call("memory_add", text="Deploys happen on Tuesday.", category="project").details["id"])
    assert (memory.scope, memory.project_key) == ("project", PROJECT)


def test_add_takes_messages_instead_of_a_text(store, call):
    call("memory_add", messages=[{"role": "user", "content": "I use pnpm"}, {"role": "assistant", "content": "Noted"}])
    (memory,) = store.list(Visibility(everywhere=True))
    assert memory.text == "user: I use pnpm assistant: Noted"


def test_a_secret_is_refused_as_an_error_that_does_not_repeat_it(store, call):
    result = call("memory_add", text=f"The token is {TOKEN}")
    assert result.is_error
    assert "secret" in result.text
    assert TOKEN not in result.text + json.dumps(result.details)
    assert store.count(Visibility(everywhere=True)) == 0


def test_search_gives_rows_in_noodles_shape_with_a_score(store, call):
    memory = add(store, "The API is versioned.", category="memory")
    (row,) = call("memory_search", query="versioned API").details
    assert row["score"] > 0
    assert {name: row[name] for name in ("id", "text", "category", "createdAt", "retrievalCount", "lastRetrieved")} == {
        "id": memory.id,
        "text": "The API is versioned.",
        "category": "memory",
        "createdAt": memory.created_at_ms,
        "retrievalCount": 0,
        "lastRetrieved": None,
    }
    assert row["scope"] == {"userId": None, "assistantId": "pi", "sessionId": None}


def test_search_honours_limit_threshold_categories_and_scope(store, call):
    for number in range(4):
        add(store, f"Rule {number} of tabs", category="user" if number else "memory")
    assert len(call("memory_search", query="rule tabs", limit=2).details) == 2
    assert len(call("memory_search", query="rule tabs", limit=2.0).details) == 2
    assert len(call("memory_search", query="rule tabs", categories=["memory"]).details) == 1
    assert call("memory_search", query="rule tabs", threshold=1e9).details == []
    assert call("memory_search", query="rule tabs", scope={"userId": "bob"}).details == []


def test_search_filters_rows_and_refuses_filters_it_does_not_know(store, call):
    add(store, "Rule one of tabs", metadata={"source": "heuristic", "confidence": 0.9}, created_at_ms=1_000)
    add(store, "Rule two of tabs", metadata={"source": "manual_command"}, created_at_ms=2_000)

    def found(**filters):
        return {row["text"][5:8] for row in call("memory_search", query="rule tabs", filters=filters).details}

    assert found() == {"one", "two"}
    assert found(source="heuristic") == {"one"}
    assert found(source=["heuristic", "manual_command"]) == {"one", "two"}
    assert found(createdAfter=1_500) == {"two"}
    assert found(createdBefore=1_500) == {"one"}
    assert found(minConfidence=0.8) == {"one"}
    assert found(metadata={"source": "manual_command"}) == {"two"}
    assert found(minRetrievalCount=1) == set()
    assert found(maxRetrievalCount=0) == {"one", "two"}
    assert found(lastRetrievedAfter=1) == set()
    assert found(auto_saved=False) == {"one", "two"}
    unknown = call("memory_search", query="rule", filters={"tag": "x"})
    assert unknown.is_error
    assert "createdAfter" in unknown.text


def test_another_projects_memories_are_out_of_reach(store, call):
    other = add(store, "Tabs in the other shop", scope="project", project_key="example.org/bob/shop")
    assert call("memory_search", query="tabs").details == []
    assert call("memory_list").details == []
    assert call("memory_get", id=other.id).details is None
    assert call("memory_delete", id=other.id).is_error
    assert call("memory_update", id=other.id, text="mine now").is_error
    assert store.get(other.id).text == "Tabs in the other shop"


def test_list_gives_the_newest_first_within_bounds(store, call):
    for number in range(3):
        add(store, f"Rule {number}", created_at_ms=number)
    assert [row["text"] for row in call("memory_list", limit=2).details] == ["Rule 2", "Rule 1"]
    assert call("memory_list", limit=201).is_error


def test_get_gives_one_row_or_null(store, call):
    memory = add(store, "Rule one")
    assert call("memory_get", id=memory.id).details["text"] == "Rule one"
    missing = call("memory_get", id="gone")
    assert (missing.text, missing.details, missing.is_error) == ("null", None, False)


def test_update_changes_text_or_metadata(store, call):
    memory = add(store, "Rule one", metadata={"a": 1})
    assert call("memory_update", id=memory.id, text="Rule two").details == {"updated": True, "id": memory.id}
    assert call("memory_update", id=memory.id, metadata={}).details == {"updated": True, "id": memory.id}
    changed = store.get(memory.id)
    assert (changed.text, changed.metadata) == ("Rule two", dict(REWORDED_MARK))
    assert call("memory_update", id=memory.id).is_error
    assert call("memory_update", id="gone", text="x").is_error


def test_delete_forgets(store, call):
    memory = add(store, "Rule one")
    assert call("memory_delete", id=memory.id).details == {"deleted": True, "id": memory.id}
    assert store.get(memory.id) is None
    assert call("memory_delete", id=memory.id).is_error


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_add", {}),
        ("memory_add", {"text": 5}),
        ("memory_add", {"text": " "}),
        ("memory_add", {"text": "x" * 20_001}),
        ("memory_add", {"text": "x", "category": "c" * 65}),
        ("memory_add", {"text": "x", "categories": "user"}),
        ("memory_add", {"text": "x", "metadata": []}),
        ("memory_add", {"text": "x", "metadata": {"a": "b" * 20_001}}),
        ("memory_add", {"text": "x", "scope": {"user": "bob"}}),
        ("memory_add", {"text": "x", "scope": {"userId": 5}}),
        ("memory_add", {"messages": "hello"}),
        ("memory_add", {"messages": [{"role": "user"}]}),
        ("memory_search", {}),
        ("memory_search", {"query": "x", "limit": 0}),
        ("memory_search", {"query": "x", "limit": 51}),
        ("memory_search", {"query": "x", "limit": True}),
        ("memory_search", {"query": "x", "limit": 1.5}),
        ("memory_search", {"query": "x", "limit": "3"}),
        ("memory_search", {"query": "x", "limit": float("inf")}),
        ("memory_search", {"query": "x", "threshold": "high"}),
        ("memory_search", {"query": "x", "filters": {"createdAfter": "yesterday"}}),
        ("memory_search", {"query": "x", "filters": {"auto_saved": "yes"}}),
        ("memory_search", {"query": "x", "filters": {"source": 5}}),
        ("memory_search", {"query": "x", "filters": {"metadata": 5}}),
        ("memory_get", {"id": None}),
        ("memory_bless", {}),
    ],
)
def test_a_wrong_call_is_an_error_result_with_a_next_step(call, name, arguments):
    result = call(name, **arguments)
    assert result.is_error
    assert result.details["error"]
    assert result.details["nextStep"]


def test_a_row_that_something_else_filled_with_secrets_is_shown_without_any(store, call):
    memory = add(store, "The office alarm is in the hall.", metadata={"note": "x"})
    metadata = {"login": {"password": {"value": "zaq1xsw2"}}, "list": [TOKEN, "plain"], TOKEN: 1, "pin": 4821, "n": 7}
    with store._database.write() as writer:
        writer.rows(
            "UPDATE memories SET metadata = ?, category = ?, categories = ?, user_id = ? WHERE id = ?",
            (json.dumps(metadata), TOKEN, json.dumps([TOKEN]), TOKEN, memory.id),
        )
    result = call("memory_get", id=memory.id)
    shown = result.text + json.dumps(result.details)
    assert TOKEN not in shown
    assert "zaq1xsw2" not in shown
    assert "4821" not in shown
    row = result.details
    assert (row["metadata"]["list"][1], row["metadata"]["n"]) == ("plain", 7)
    assert row["scope"]["assistantId"] == "pi"


def nested(levels):
    value = "end"
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize("levels", [40, 900, 5_000])
def test_metadata_that_is_nested_too_deeply_is_refused(call, levels):
    for tool in ("memory_add", "memory_update"):
        result = call(tool, id="m", text="x", metadata=nested(levels))
        assert result.is_error


def test_a_deeply_nested_row_of_something_else_can_be_read(store, call):
    memory = add(store, "The API is versioned.")
    with store._database.write() as writer:
        writer.rows("UPDATE memories SET metadata = ? WHERE id = ?", (json.dumps(nested(500)), memory.id))
    assert "nested too deeply" in json.dumps(to_json(call("memory_get", id=memory.id)))


def test_what_the_agent_adds_belongs_where_its_words_say(call, store):
    saved = {text: call("memory_add", text=text).details["id"] for text in ("In this repo we use pnpm", "Call me Ada")}
    scopes = {text: store.get(id_).scope for text, id_ in saved.items()}
    assert scopes == {"In this repo we use pnpm": "project", "Call me Ada": "user"}


def test_the_agent_cannot_say_that_the_person_approved_something(call, store):
    claimed = {"reviewed_action": "saved_from_review", "auto_saved": False, "topic": "tabs"}
    id_ = call("memory_add", text="I prefer tabs", metadata=claimed).details["id"]
    assert is_auto_saved(store.get(id_))
    call("memory_update", id=id_, metadata=claimed)
    assert is_auto_saved(store.get(id_))
    assert store.get(id_).metadata["topic"] == "tabs"


def test_a_memory_that_the_agent_reworded_comes_up_for_review_again(call, store):
    memory = mark_reviewed(store, add(store, "I prefer tabs", metadata={"auto_saved": True}))
    assert not is_auto_saved(memory)
    call("memory_update", id=memory.id, metadata={"topic": "tabs"})
    assert not is_auto_saved(store.get(memory.id))
    call("memory_update", id=memory.id, text="I prefer spaces")
    assert is_auto_saved(store.get(memory.id))
    assert not is_auto_saved(mark_reviewed(store, store.get(memory.id)))
