"""Written forms that gruut reads wrongly, as an English speaker says them.

gruut itself (with num2words, Babel and dateparser) says numbers, ordinals, dates, clock times, simple sums of
money and percentages. Here come units (their names are Babel's, from CLDR), large and foreign money, ranges,
fractions, decades, telephone numbers, addresses and abbreviations. Numbers stay digits where gruut is right.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from babel.units import format_unit

_NUMBER: Final = r"\d+(?:,\d{3})*(?:\.\d+)?"
# By what is written, its CLDR unit. Single letters only where hardly anything else is meant after a number.
_UNITS: Final[Mapping[str, str]] = {
    "km/h": "speed-kilometer-per-hour",
    "m/s": "speed-meter-per-second",
    "mph": "speed-mile-per-hour",
    "km": "length-kilometer",
    "cm": "length-centimeter",
    "mm": "length-millimeter",
    "m": "length-meter",
    "ft": "length-foot",
    "mi": "length-mile",
    "kg": "mass-kilogram",
    "mg": "mass-milligram",
    "g": "mass-gram",
    "lbs": "mass-pound",
    "lb": "mass-pound",
    "oz": "mass-ounce",
    "ml": "volume-milliliter",
    "mL": "volume-milliliter",
    "L": "volume-liter",
    "kWh": "energy-kilowatt-hour",
    "kW": "power-kilowatt",
    "W": "power-watt",
    "V": "electric-volt",
    "GHz": "frequency-gigahertz",
    "MHz": "frequency-megahertz",
    "kHz": "frequency-kilohertz",
    "Hz": "frequency-hertz",
    "TB": "digital-terabyte",
    "GB": "digital-gigabyte",
    "MB": "digital-megabyte",
    "KB": "digital-kilobyte",
    "kB": "digital-kilobyte",
    "hrs": "duration-hour",
    "hr": "duration-hour",
    "h": "duration-hour",
    "min": "duration-minute",
    "sec": "duration-second",
    "s": "duration-second",
    "ms": "duration-millisecond",
    "°C": "temperature-celsius",
    "°F": "temperature-fahrenheit",
}
_MONEY: Final = {"$": "dollar", "£": "pound", "€": "euro", "¥": "yen"}
_PARTS: Final = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DECADES: Final = ("twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet")
_MONTHS: Final = {
    "Jan": "January",
    "Feb": "February",
    "Mar": "March",
    "Apr": "April",
    "Jun": "June",
    "Jul": "July",
    "Aug": "August",
    "Sep": "September",
    "Sept": "September",
    "Oct": "October",
    "Nov": "November",
    "Dec": "December",
}
_BEFORE_NUMBER: Final = {"No": "number", "Fig": "figure", "Ch": "chapter", "p": "page", "vol": "volume"}
_ABBREVIATIONS: Final = {
    "e.g.": "for example",
    "i.e.": "that is",
    "etc.": "et cetera",
    "approx.": "approximately",
    "dept.": "department",
    "est.": "established",
    "Prof.": "Professor",
    "Gen.": "General",
    "Sen.": "Senator",
    "Gov.": "Governor",
    "Inc.": "Incorporated",
    "Ltd.": "Limited",
}


def spoken(text: str) -> str:
    """The text with those forms written out; the rest is unchanged."""
    for pattern, say in _RULES:
        text = pattern.sub(say, text)
    return text


def _address(found: re.Match[str]) -> str:
    return (
        found[0]
        .replace("@", " at ")
        .replace(".", " dot ")
        .replace("_", " underscore ")
        .replace("-", " dash ")
    )


def _digits(found: re.Match[str]) -> str:
    groups = re.findall(r"\d+", found[0])
    read = ", ".join(" ".join(_DIGITS[int(c)] for c in group) for group in groups)
    return f"plus {read}" if found[0].startswith("+") else read


def _dotted(found: re.Match[str]) -> str:
    return " dot ".join(found[0].split("."))


def _unit(found: re.Match[str]) -> str:
    number = found["number"]
    name = format_unit(float(number.replace(",", "")), _UNITS[found["unit"]], length="long", locale="en")
    return f"{number} {name.partition(' ')[2]}"


def _money(found: re.Match[str]) -> str:
    name = _MONEY[found["sign"]]
    one = found["number"] == "1" and not found["more"]
    plural = "" if one or name == "yen" else "s"
    return f"{found['number']}{found['more'] or ''} {name}{plural}"


def _range_of_money(found: re.Match[str]) -> str:
    return f"{found['low']} to {found['sign']}{found['high']}"


def _fraction(found: re.Match[str]) -> str:
    count, of = int(found["count"]), int(found["of"])
    if not 0 < count < of <= len(_PARTS) + 1:
        return found[0]
    name = _PARTS[of - 2]
    # After a whole number: "two and a half".
    number = (
        f"and {'a' if count == 1 else count}" if found["whole"] else ("one" if count == 1 else str(count))
    )
    return f"{found['whole'] or ''}{number} {name}{'s' if count > 1 else ''}"


def _decade(found: re.Match[str]) -> str:
    return f"{found['century'] or ''} {_DECADES[int(found['ten']) - 2]}ies".strip()


def _date(found: re.Match[str]) -> str:
    month, day = int(found["month"]), int(found["day"])
    # As Americans write it; gruut reads the ISO form as a date.
    return f"{found['year']}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else found[0]


def _saint_or_street(found: re.Match[str]) -> str:
    return f"{found['name']} Street" if found["name"] else "Saint"


def _abbreviation(found: re.Match[str]) -> str:
    return _ABBREVIATIONS[found[0]]


def _before_number(found: re.Match[str]) -> str:
    return f"{_BEFORE_NUMBER[found[1]]} "


def _month(found: re.Match[str]) -> str:
    return f"{_MONTHS[found[1]]} "


def _any(words: Iterable[str]) -> str:
    """A pattern of any of them, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


Say = str | Callable[[re.Match[str]], str]
# In this order: what a rule has said, the ones after it see.
_SPOKEN: Final[tuple[tuple[str, Say], ...]] = (
    (r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}", _address),
    (r"\b[A-Za-z][\w-]*(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|ai|dev|info|co|uk|de|fr|eu)\b", _address),
    # Telephone numbers: with a country, with an area, local, and short ones after a verb.
    (r"(?<![\w.])\+\d{1,3}(?:[ -]?\(?\d{2,4}\)?){2,5}\b", _digits),
    (r"(?<![\w.-])(?:\(\d{3}\)|\d{3})[ -]\d{3}[ -]\d{4}\b(?![\w-])", _digits),
    (r"(?<![\w.-])\d{3}-\d{4}\b(?![\w-])", _digits),
    (r"(?:(?<=\bcall )|(?<=\bdial ))\d{3}\b", _digits),
    (r"\bv(?=\d)", "version "),
    (r"(?<![\w.])\d+(?:\.\d+){2,}\b", _dotted),
    (r"(?P<low>(?P<sign>[$£€])\d+)\s?[-–]\s?(?P=sign)?(?P<high>\d+)\b", _range_of_money),
    (rf"(?P<sign>[$£€¥])\s?(?P<number>{_NUMBER})(?P<more> (?:thousand|[mbtr]+illion))\b", _money),
    (rf"(?P<sign>¥)\s?(?P<number>{_NUMBER})(?P<more>)", _money),
    (r"(?<![\w.-])(\d{1,4})-(\d{1,4})(?![\w-])", r"\1 to \2"),
    (r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b", _date),
    (r"\b(?P<century>1[1-9]|20)?(?P<ten>[2-9])0s\b", _decade),
    (rf"(?<![\w.,])(?P<number>{_NUMBER})[ \u00a0]?(?P<unit>{_any(_UNITS)})(?![\w/'])", _unit),
    (r"\b(\d+) ?bpm\b", r"\1 beats per minute"),
    (r"(?<=\d) %", "%"),
    (r"(?<![\w./])(?P<whole>\d+ )?(?P<count>\d{1,2})/(?P<of>\d{1,2})(?![\w/])", _fraction),
    (r"(?i)(?<=\d) ?([ap])\.m\.(?=\s+[a-z])", r" \1m"),
    (r"(?i)(?<=\d) ?([ap])\.m\.", r" \1m."),
    (r"(?<!\w)#(?=\d)", "number "),
    (r"(?<!\w)~(?=\d)", "about "),
    (r"\b(\d+)[x×](?!\w)", r"\1 times"),
    (r"\s*&\s*", " and "),
    (rf"(?<![\w.])(?:{_any(_ABBREVIATIONS)})(?!\w)", _abbreviation),
    (rf"\b({_any(_BEFORE_NUMBER)})\. ?(?=\d)", _before_number),
    (rf"\b({_any(_MONTHS)})\. (?=\d)", _month),
    (r"(?:\b(?P<name>[A-Z][a-z]+) )?\bSt\.(?= [A-Z])", _saint_or_street),
    # "A4", "B2B", "4K": letters and digits are read one by one.
    (r"(?<=\b[A-Z])(?=\d)|(?<=\d)(?=[A-Z]\b)", " "),
)
_RULES: Final = tuple((re.compile(pattern), say) for pattern, say in _SPOKEN)
