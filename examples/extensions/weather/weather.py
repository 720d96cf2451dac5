#!/usr/bin/env python3
"""Tools for the model. What it may ask is read from the type hints; `forecast` is hidden until it is asked for.

The weather is made up, so that the example needs no network.
"""

from typing import Annotated, Literal

from zot_ext import Extension, ToolResult

WEATHER = {"berlin": (16, "fog"), "lisbon": (24, "sunny"), "oslo": (9, "rain"), "tokyo": (21, "clear")}
CITY = Annotated[str, "a city, such as Berlin"]
UNIT = Annotated[Literal["celsius", "fahrenheit"], "the unit of temperatures"]

ext = Extension("weather", "1.0.0")


def known(city: str) -> "tuple[int, str]":
    """Raises: the model reads what was wrong, as an error of the tool."""
    if city.casefold() not in WEATHER:
        raise LookupError(f"nothing is known of {city!r}, only of {', '.join(name.title() for name in WEATHER)}")
    return WEATHER[city.casefold()]


def degrees(celsius: int, unit: str) -> str:
    return f"{celsius}°C" if unit == "celsius" else f"{round(celsius * 9 / 5 + 32)}°F"


@ext.tool
def weather(city: CITY, unit: UNIT = "celsius") -> str:
    """Current weather for a city."""
    celsius, sky = known(city)
    return f"{city.title()}: {degrees(celsius, unit)}, {sky}"


@ext.tool(deferred=True)
def forecast(city: CITY, days: Annotated[int, "how many days, at most 7"] = 3, unit: UNIT = "celsius") -> str:
    """Weather of the coming days for a city."""
    celsius, sky = known(city)
    lines = (f"in {day} days: {degrees(celsius + day % 3 - 1, unit)}, {sky}" for day in range(1, min(days, 7) + 1))
    return "\n".join(lines)


@ext.tool
def more_weather() -> ToolResult:
    """Makes the tool `forecast` available, for questions about the coming days."""
    return ToolResult("The tool `forecast` is there now.", activate_tools=["forecast"])


@ext.command("weather", "show the weather in a city, without the model")
def show(args):
    return weather(args or "Berlin")


ext.run()
