"""The database: migrations, rows, search, embedders."""
