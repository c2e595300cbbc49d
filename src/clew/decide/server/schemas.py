"""JSON schemas of what the server takes and gives, with the limits that are in force."""

from __future__ import annotations

from typing import Any

from clew.decide.server import native_requests, requests

_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
_STRING = {"type": "string"}
_NUMBER = {"type": "number"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARES = {"type": "object", "additionalProperties": _PROBABILITY, "minProperties": 1}
_NUMBERS = {"type": "array", "items": _NUMBER}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(
    fields: dict[str, Any], *, optional: tuple[str, ...] = (), is_open: bool = False, about: str = ""
) -> dict[str, Any]:
    """An object with these fields, all required but the optional ones; open ones may have others."""
    required = [name for name in fields if name not in optional]
    schema: dict[str, Any] = {"type": "object", "properties": fields, "required": required}
    if not is_open:
        schema["additionalProperties"] = False
    return schema | ({"description": about} if about else {})


def _const(value: str) -> dict[str, Any]:
    return {"type": "string", "const": value}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_TEXT_OR_NULL = _nullable(_ref("Text"))
_MARKS = {
    "x_abstained": {"const": True, "description": "There is no head for this question, or the state cannot be read"},
    "x_head": {"type": "string", "description": "The head that answered"},
    "x_matched_by": {"enum": ["wording", "id"], "description": "How the head was found"},
}


def _map_of(schema: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": schema, "minProperties": 1, "maxProperties": most}


def _tagged(*names: str) -> dict[str, Any]:
    return {"oneOf": [_ref(name) for name in names]}


# -- System One -----------------------------------------------------------------------------------------------------

_SYSTEM_ONE = {
    "Text": {"type": ["string", "object", "array"], "description": "What is no string is read as canonical JSON"},
    "State": {
        "type": ["string", "object", "array"],
        "description": (
            "An exchange: a text, an object with user (and assistant, previous_assistant, project), or with messages."
            " For questions about two memories: an object with a and b, or a list of two. For questions about one: an"
            " object with entry (and written)."
        ),
    },
    "SystemOneRequest": _object(
        {
            "model": {"type": "string", "description": "One of those listed by /v1/models, or jev-…"},
            "state": _ref("State"),
            "questions": _map_of(_ref("Question"), requests.MAX_QUESTIONS),
        },
        is_open=True,
    ),
    "Question": _tagged("Noul", "Choice", "Score"),
    "Noul": _object(
        {
            "type": _const("noul"),
            "instructions": _TEXT_OR_NULL,
            "criteria": _nullable(_object({"true": _TEXT_OR_NULL, "false": _TEXT_OR_NULL}, optional=("true", "false"))),
        },
        optional=("instructions", "criteria"),
        about="A yes-or-no question; it has instructions, or describes an outcome.",
    ),
    "Choice": _object(
        {
            "type": _const("choice"),
            "instructions": _TEXT_OR_NULL,
            "criteria": _map_of(_TEXT_OR_NULL, requests.MAX_OPTIONS),
        },
        optional=("instructions",),
        about="One of named options.",
    ),
    "Score": _object(
        {
            "type": _const("score"),
            "instructions": _TEXT_OR_NULL,
            "criteria": {"type": "array", "items": _ref("Text"), "minItems": 1, "maxItems": requests.MAX_LEVELS},
        },
        optional=("instructions",),
        about="A level of an ordered scale, lowest first.",
    ),
    "SystemOneReply": _object(
        {
            "model": _STRING,
            "answers": {"type": "object", "additionalProperties": _tagged("NoulAnswer", "ChoiceAnswer", "ScoreAnswer")},
            "usage": _object({"input_tokens": _COUNT, "output_tokens": _COUNT}),
        }
    ),
    "NoulAnswer": _object({"type": _const("noul"), "noul": _PROBABILITY, **_MARKS}, optional=tuple(_MARKS)),
    "ChoiceAnswer": _object(
        {"type": _const("choice"), "choice": _STRING, "probabilities": _SHARES, "confidence": _PROBABILITY, **_MARKS},
        optional=tuple(_MARKS),
    ),
    "ScoreAnswer": _object(
        {
            "type": _const("score"),
            "score": _NUMBER,
            "legend": {"type": "object", "additionalProperties": _STRING},
            "probabilities": _SHARES,
            "confidence": _PROBABILITY,
            **_MARKS,
        },
        optional=tuple(_MARKS),
    ),
}

# -- native decisions -----------------------------------------------------------------------------------------------

_LONG = {"type": "string", "minLength": 1, "maxLength": native_requests.MAX_TEXT_CHARS}
_ASKED = {"instructions": _LONG, "policy": _nullable(_ref("Policy"))}


def _entries(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema, "minItems": 2, "maxItems": native_requests.MAX_CANDIDATES}


def _native_question(type_: str, fields: dict[str, Any], *optional: str) -> dict[str, Any]:
    return _object({"type": _const(type_), **_ASKED, **fields}, optional=("policy", *optional))


_STATISTICS = _object(
    {
        "mean": _NUMBER,
        "stddev": _NUMBER,
        "median": _NUMBER,
        "anchor_quantiles": _object({"p10": _NUMBER, "p90": _NUMBER}),
    }
)
_SPREAD = {"values": _NUMBERS, "support": _NUMBERS, "statistics_given_available": _nullable(_STATISTICS)}
_ANSWER = {
    "status": {"enum": ["ok", "uncertain", "insufficient_evidence", "out_of_range"]},
    "probabilities": _SHARES,
    "option_logits": {"type": "object", "additionalProperties": _NUMBER, "description": "Before the temperature"},
    "legend": {"type": "object", "additionalProperties": _STRING},
    "uncertainty": _object(
        {
            "top_probability": _PROBABILITY,
            "entropy_nats": {"type": "number", "minimum": 0},
            "concentration": _PROBABILITY,
            "unavailable_probability": {"type": "number", "minimum": 0},
        }
    ),
    "probability_status": _STRING,
    "temperature": {"type": "number", "exclusiveMinimum": 0},
    "prompt_sha256": {"type": "string", "minLength": 64, "maxLength": 64},
    "input_tokens": {"type": "integer", "minimum": 1},
    **_MARKS,
}


def _native_answer(type_: str, fields: dict[str, Any]) -> dict[str, Any]:
    return _object({"type": _const(type_), **_ANSWER, **fields}, optional=tuple(_MARKS))


_NATIVE = {
    "DecisionsRequest": _object(
        {
            "state": _ref("State"),
            "questions": _map_of(_ref("NativeQuestion"), native_requests.MAX_QUESTIONS),
            "mode": {"enum": ["shared", "direct"], "default": "shared"},
        },
        optional=("mode",),
    ),
    "NativeQuestion": _tagged("BooleanQuestion", "NativeChoice", "NativeScore", "NumericQuestion"),
    "Policy": _object(
        {
            "allow_abstain": {"type": "boolean", "default": True},
            "max_unavailable_probability": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.5},
            "min_top_probability": {**_PROBABILITY, "default": 0},
        },
        optional=("allow_abstain", "max_unavailable_probability", "min_top_probability"),
        about="When the value is held back.",
    ),
    "BooleanQuestion": _native_question(
        "boolean",
        {"true_description": _nullable(_LONG), "false_description": _nullable(_LONG)},
        "true_description",
        "false_description",
    ),
    "NativeChoice": _native_question(
        "choice", {"options": _entries(_object({"id": {**_STRING, "maxLength": 64}, "description": _LONG}))}
    ),
    "NativeScore": _native_question("score", {"levels": _entries(_LONG)}),
    "NumericQuestion": _native_question(
        "numeric",
        {
            "unit": {"type": "string", "maxLength": native_requests.MAX_UNIT_CHARS},
            "anchors": _entries(_object({"value": _NUMBER, "description": _LONG})),
        },
    ),
    "DecisionsReply": _object(
        {
            "model": _ref("Model"),
            "mode": _STRING,
            "answers": {
                "type": "object",
                "additionalProperties": _tagged(
                    "BooleanAnswer", "NativeChoiceAnswer", "NativeScoreAnswer", "NumericAnswer"
                ),
            },
            "calibration": {"type": ["object", "null"], "description": "The fit that is applied, as its file has it"},
            "timing": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
        }
    ),
    "BooleanAnswer": _native_answer(
        "boolean",
        {"value": {"type": ["boolean", "null"]}, "probability_true_given_available": _PROBABILITY},
    ),
    "NativeChoiceAnswer": _native_answer("choice", {"choice": {"type": ["string", "null"]}}),
    "NativeScoreAnswer": _native_answer(
        "score", {"score": _nullable(_NUMBER), "normalized_score": _nullable(_PROBABILITY), **_SPREAD}
    ),
    "NumericAnswer": _native_answer(
        "numeric",
        {
            "value": _nullable(_NUMBER),
            "unit": _STRING,
            "range_probabilities": _object({"below": _PROBABILITY, "above": _PROBABILITY}),
            **_SPREAD,
        },
    ),
}

# -- the rest -------------------------------------------------------------------------------------------------------

SCHEMAS: dict[str, Any] = {
    **_SYSTEM_ONE,
    **_NATIVE,
    "Model": _object({"name": _STRING, "fingerprint": {"type": ["string", "null"]}}),
    "Health": _object({"status": _const("ready"), "model": _ref("Model"), "calibrated": {"type": "boolean"}}),
    "Models": _object(
        {
            "models": {
                "type": "array",
                "minItems": 1,
                "items": _object(
                    {"name": _STRING, "description": _STRING, "release_date": {"type": "string", "format": "date"}}
                ),
            }
        }
    ),
    "Questions": _object(
        {
            name: {"type": "object", "additionalProperties": _ref("Question")}
            for name in ("gate", "pairs", "consolidation")
        }
    ),
    "Document": {"type": "object", "description": "An OpenAPI document"},
    "Redirect": _object({"see": _STRING}),
    "Refusal": _object({"detail": _object({"error_type": _STRING, "message": _STRING})}),
    "Problems": _object(
        {
            "detail": {
                "type": "array",
                "minItems": 1,
                "items": _object(
                    {
                        "loc": {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1},
                        "msg": _STRING,
                        "type": _STRING,
                    }
                ),
            }
        }
    ),
}
