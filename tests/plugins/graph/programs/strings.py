"""Programs over str: operators, indexing, slices, methods, also with odd arguments."""

from typing import List, Tuple


@cases(("ab", "cd"), ("", "x"))
def join_and_compare(a: str, b: str) -> Tuple[str, bool, bool]:
    return a + b, a == b, a != b


@cases(("a", "b"), ("b", "a"), ("a", "ab"), ("Z", "a"), ("", ""))
def order(a: str, b: str) -> Tuple[bool, bool, bool, bool]:
    return a < b, a <= b, a > b, a >= b


@cases(("hello",), ("",))
def length(s: str) -> int:
    return len(s)


@cases(("hello", 0), ("hello", -1), ("hello", 4), ("hello", 5), ("hello", -6))
def element(s: str, i: int) -> str:
    return s[i]


@cases(("hello",), ("ab",), ("",))
def slices(s: str) -> List[str]:
    return [s[1:3], s[:2], s[2:], s[-2:], s[:-1], s[:], s[1:100], s[3:1]]


@cases(("abcdef",))
def slices_with_step(s: str) -> List[str]:
    return [s[::2], s[1::2], s[1:5:3]]


@cases(("abcdef",))
def slice_reversed(s: str) -> str:
    return s[::-1]


@cases(("hello", "ell"), ("hello", ""), ("hello", "xyz"))
def contains(s: str, part: str) -> Tuple[bool, bool]:
    return part in s, part not in s


@cases(("Hello World 1",), ("",), ("ABC",), ("abc",))
def cases_of_letters(s: str) -> List[str]:
    return [s.upper(), s.lower(), s.swapcase(), s.title(), s.capitalize()]


@cases(("abc",), ("ABC",), ("a1",), ("12",), (" \t",), ("",), ("Abc Def",))
def questions(s: str) -> List[bool]:
    return [
        s.isupper(),
        s.islower(),
        s.isdigit(),
        s.isspace(),
        s.isalnum(),
        s.isalpha(),
        s.istitle(),
        s.isdecimal(),
        s.isnumeric(),
        s.isidentifier(),
        s.isprintable(),
    ]


@cases(("hello",), ("",))
def starts_and_ends(s: str) -> List[bool]:
    return [s.startswith("he"), s.startswith(""), s.endswith("lo"), s.endswith("hello!")]


@cases(("hello hello", "l"), ("hello hello", "hello"), ("hello", "z"))
def found_at(s: str, part: str) -> Tuple[int, int, int]:
    return s.find(part), s.rfind(part), s.count(part)


@cases(("abc",), ("",))
def empty_text_is_counted(s: str) -> int:
    return s.count("")


@cases(("hello",), ("",))
def empty_text_is_found(s: str) -> Tuple[int, int]:
    return s.find(""), s.rfind("")


@cases(("hello hello", 3), ("hello hello", -3), ("hello hello", 100))
def found_from(s: str, start: int) -> Tuple[int, int]:
    return s.find("l", start), s.find("h", start, 8)


@cases(("hello", "l"), ("hello", "z"))
def index_of(s: str, part: str) -> int:
    return s.index(part)


@cases(("hello", "l"), ("hello", "z"))
def last_index_of(s: str, part: str) -> int:
    return s.rindex(part)


@cases(("banana", "an", "<>"), ("banana", "a", ""), ("banana", "x", "y"))
def replaced(s: str, old: str, new: str) -> str:
    return s.replace(old, new)


@cases(("banana", 0), ("banana", 1), ("banana", 2), ("banana", -1))
def replaced_at_most(s: str, n: int) -> str:
    return s.replace("a", "o", n)


@cases(("  ab \n",), ("",), ("   ",))
def stripped(s: str) -> List[str]:
    return [s.strip(), s.lstrip(), s.rstrip()]


@cases(("xxabxx", "x"), ("xyabyx", "xy"), ("ab", "z"), ("aaa", "a"))
def stripped_of(s: str, characters: str) -> List[str]:
    return [s.strip(characters), s.lstrip(characters), s.rstrip(characters)]


@cases(("a b  c",), ("",), ("  a ",), ("one",), ("a\tb\nc",))
def split_at_spaces(s: str) -> List[str]:
    return s.split()


@cases(("a,b,,c", ","), ("", ","), ("abc", ","), ("a--b", "--"), (",a,", ","))
def split_at(s: str, separator: str) -> List[str]:
    return s.split(separator)


@cases(("a,b,c", 1), ("a,b,c", 0), ("a,b,c", -1), ("a,b,c", 9))
def split_at_most(s: str, n: int) -> List[str]:
    return s.split(",", n)


@cases(("a,b,c", 1), ("a,b,c", -1))
def split_from_the_right(s: str, n: int) -> List[str]:
    return s.rsplit(",", n)


@cases(("a\nb\n\nc",), ("",), ("a\n",), ("a\r\nb",))
def lines(s: str) -> List[str]:
    return s.splitlines()


@cases((", ", ["a", "b", "c"]), ("", ["x", "y"]), ("-", ["one"]))
def joined(separator: str, parts: List[str]) -> str:
    return separator.join(parts)


@cases(("k=v=w",), ("k",), ("=v",))
def partitioned(s: str) -> Tuple[Tuple[str, str, str], Tuple[str, str, str]]:
    return s.partition("="), s.rpartition("=")


@cases(("ab", 5), ("ab", 6), ("abcdef", 3))
def padded(s: str, n: int) -> List[str]:
    return [s.ljust(n), s.rjust(n, "*"), s.center(n, "-")]


@cases(("42", 5), ("-42", 5), ("+1", 4), ("12345", 3))
def zero_filled(s: str, n: int) -> str:
    return s.zfill(n)


@cases(("a\tb",), ("\t",))
def tabs(s: str) -> str:
    return s.expandtabs(4)


@cases(("abc",), ("",))
def characters(s: str) -> List[str]:
    out: List[str] = []
    for c in s:
        out.append(c + "!")
    return out


@cases(("hello world",), ("aeiou",))
def vowels(s: str) -> int:
    n = 0
    for c in s:
        if c in "aeiou":
            n += 1
    return n


@cases(("racecar",), ("ab",), ("",))
def palindrome(s: str) -> bool:
    i, j = 0, len(s) - 1
    while i < j:
        if s[i] != s[j]:
            return False
        i += 1
        j -= 1
    return True


@cases(("a",), ("",), ("ab",))
def code_of(s: str) -> int:
    return ord(s)


@cases(("abc", 2), ("xyz", 3))
def caesar(s: str, shift: int) -> str:
    out = ""
    for c in s:
        out += chr((ord(c) - 97 + shift) % 26 + 97)
    return out


@cases()
def escapes() -> List[str]:
    return ["tab\t", 'quote"', "it's", "back\\slash", "line\nbreak", r"raw\n", "joined " "literal"]  # fmt: skip


@cases(("b a c",))
def words_sorted(s: str) -> str:
    words = s.split(" ")
    words.sort()
    return " ".join(words)


@cases(("x",))
def augmented(s: str) -> str:
    t = s
    s += "y"
    return t + s


@cases((1, 2.5, True))
def texts_of_values(a: int, b: float, c: bool) -> List[str]:
    return [str(a), str(b), str(c)]


@cases((3.0,), (1e20,), (1e-7,), (0.1,), (123456.789,))
def texts_of_floats(x: float) -> str:
    return str(x)


@cases(([1, 2], ["a", "b"]))
def texts_of_lists(a: List[int], b: List[str]) -> Tuple[str, str]:
    return str(a), str(b)


@cases(("abc",), ("",))
def truth_of_text(s: str) -> str:
    return "some" if len(s) > 0 else "none"
