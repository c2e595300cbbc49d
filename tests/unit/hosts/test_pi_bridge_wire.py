from __future__ import annotations

import pytest

from clew.core.errors import InvalidInput
from clew.hosts.pi import protocol
from clew.hosts.pi.generate import TARGET, main, render
from clew.hosts.pi.protocol import (
    CaptureParams,
    CommandParams,
    Injected,
    NotifyParams,
    RecallResult,
    ToolParams,
    WireMessage,
)
from clew.hosts.pi.wire import from_json, to_json

MESSAGE = {"entry_id": "a1", "role": "user", "text": "hi", "timestamp_ms": 5}


def test_nested_dataclasses_are_built_and_defaults_filled_in():
    params = from_json(CaptureParams, {"messages": [MESSAGE], "settled": True})
    assert params == CaptureParams(
        messages=[WireMessage(entry_id="a1", role="user", text="hi", timestamp_ms=5)], settled=True
    )


def test_unknown_fields_are_ignored():
    assert from_json(CommandParams, {"name": "noodle", "args": "", "later": 1}) == CommandParams(name="noodle", args="")


@pytest.mark.parametrize(
    ("shape", "value", "says"),
    [
        (CommandParams, {"name": "noodle"}, "`args` is missing"),
        (CommandParams, {"name": 3, "args": ""}, "`name` is not a string"),
        (CommandParams, ["noodle", ""], "not an object"),
        (CaptureParams, {"messages": {}, "settled": True}, "`messages` is not a list"),
        (CaptureParams, {"messages": [], "settled": 1}, "`settled` is not true or false"),
        (CaptureParams, {"messages": [MESSAGE, {**MESSAGE, "timestamp_ms": True}], "settled": True},
         "`messages[1].timestamp_ms` is not a number"),
        (CaptureParams, {"messages": [{**MESSAGE, "role": "system"}], "settled": True}, "`messages[0].role` is not one of"),
        (NotifyParams, {"message": "a", "level": ["info"]}, "`level` is not one of"),
        (ToolParams, {"name": "memory_get", "arguments": []}, "`arguments` is not an object"),
    ],
)  # fmt: skip
def test_a_missing_or_wrong_field_is_named(shape, value, says):
    with pytest.raises(InvalidInput, match=says.replace("[", r"\[").replace("]", r"\]")):
        from_json(shape, value)


def test_a_value_that_is_nested_too_deeply_is_refused_by_name():
    deep = "end"
    for _ in range(2_000):
        deep = {"a": [deep]}
    with pytest.raises(InvalidInput, match="nested"):
        to_json(deep)


@pytest.mark.parametrize("timestamp", [1e30, 10**400, None, 0.5])
def test_any_number_and_null_are_read_as_a_timestamp(timestamp):
    params = from_json(CaptureParams, {"messages": [{**MESSAGE, "timestamp_ms": timestamp}], "settled": True})
    assert params.messages[0].timestamp_ms == timestamp


def test_what_is_written_can_be_read_back():
    result = RecallResult(content=None, injected=[Injected(id="m", updated_at_ms=1)], mode="lexical")
    assert from_json(RecallResult, to_json(result)) == result


def test_the_typescript_side_is_up_to_date():
    assert TARGET.read_text(encoding="utf-8") == render()


def test_check_fails_on_a_stale_file(monkeypatch, tmp_path, capsys):
    stale = tmp_path / "protocol.gen.ts"
    stale.write_text("old")
    monkeypatch.setattr("clew.hosts.pi.generate.TARGET", stale)
    assert main(["--check"]) == 1
    assert "Run `python -m clew.hosts.pi.generate`" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_every_tool_declares_an_object_of_parameters():
    for tool in protocol.TOOLS:
        assert tool.parameters["type"] == "object"
        assert set(tool.parameters.get("required", [])) <= set(tool.parameters["properties"])
