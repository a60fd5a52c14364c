"""A restricted evaluator: small Python functions, interpreted node by node from a list of what is allowed.

Nothing is compiled or executed by Python itself. There are no imports, attributes other than a few string and list
methods, no names but arguments, local variables and a few pure functions, and work, numbers and sizes are bounded.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_STEPS = 10_000
MAX_SIZE = 10_000
MAX_SOURCE = 2_000

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.Not: operator.not_}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    f.__name__: f for f in (abs, bool, int, len, list, max, min, range, sorted, str, sum)
}
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset({"upper", "lower", "count", "startswith", "endswith", "split", "strip"}),
    list: frozenset({"count", "index", "append"}),
}


class NotAllowed(Exception):
    """The source uses something outside the evaluator's list, or goes over its bounds."""


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Frame:
    """One call: its local variables and how much work is left."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self.steps = MAX_STEPS

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise NotAllowed("too many steps")

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.spend()
            self.execute(statement)

    def execute(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Return(value=ast.expr() as value):
                raise _Return(self.value(value))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.names[name] = self.value(value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.names[name] = self.binary(op, self.value(ast.Name(name, ast.Load())), self.value(value))
            case ast.If(test=test, body=body, orelse=orelse):
                self.run(body if self.value(test) else orelse)
            case ast.For(target=ast.Name(id=name), iter=iterable, body=body, orelse=[]):
                for item in _bounded(self.value(iterable)):
                    self.names[name] = item
                    self.run(body)
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case _:
                raise NotAllowed(type(statement).__name__)

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if type(op) not in _BINARY:
            raise NotAllowed(type(op).__name__)
        if isinstance(op, ast.Mod) and isinstance(left, str):
            raise NotAllowed("formatting")
        if isinstance(op, ast.Mult):
            for many, times in ((left, right), (right, left)):
                if isinstance(many, str | list) and isinstance(times, int) and len(many) * times > MAX_SIZE:
                    raise NotAllowed("too large")
        return _bounded(_BINARY[type(op)](left, right))

    def value(self, node: ast.expr) -> Any:
        self.spend()
        match node:
            case ast.Constant(value=bool() | int() | str() | None as constant):
                return _bounded(constant)
            case ast.Name(id=name):
                if name not in self.names:
                    raise NotAllowed(f"name {name}")
                return self.names[name]
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return _UNARY[type(op)](self.value(operand))
            case ast.BoolOp(op=op, values=values):
                return self.boolean(values, stop_at=isinstance(op, ast.Or))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.comparison(left, ops, comparators)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body) if self.value(test) else self.value(orelse)
            case ast.List(elts=elements):
                return [self.value(element) for element in elements]
            case ast.Subscript(value=inner, slice=index):
                return self.value(inner)[self.index(index)]
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self.call(function, [self.value(argument) for argument in arguments])
        raise NotAllowed(type(node).__name__)

    def boolean(self, values: Sequence[ast.expr], *, stop_at: bool) -> Any:
        result: Any = None
        for value in values:
            result = self.value(value)
            if bool(result) is stop_at:
                break
        return result

    def comparison(self, left: ast.expr, ops: Sequence[ast.cmpop], comparators: Sequence[ast.expr]) -> bool:
        one = self.value(left)
        for op, comparator in zip(ops, comparators, strict=True):
            if type(op) not in _COMPARE:
                raise NotAllowed(type(op).__name__)
            other = self.value(comparator)
            if not _COMPARE[type(op)](one, other):
                return False
            one = other
        return True

    def index(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Slice):
            return self.value(node)
        return slice(*(None if part is None else self.value(part) for part in (node.lower, node.upper, node.step)))

    def call(self, function: ast.expr, arguments: list[Any]) -> Any:
        match function:
            case ast.Name(id=name) if name in _FUNCTIONS:
                return _bounded(_FUNCTIONS[name](*arguments))
            case ast.Attribute(value=inner, attr=method):
                owner = self.value(inner)
                if method in _METHODS.get(type(owner), ()):
                    return _bounded(getattr(owner, method)(*arguments))
        raise NotAllowed("call")


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > 10**18:
        raise NotAllowed("too large")
    if isinstance(value, str | list | range) and len(value) > MAX_SIZE:
        raise NotAllowed("too large")
    return value


def run_function(source: str, name: str, arguments: Sequence[Any]) -> Any:
    """Call the one function that `source` defines, under the name it must have, with these arguments.

    Raises:
        NotAllowed: for anything outside the evaluator's list or bounds.
        SyntaxError: when the source is not Python.
        Exception: what the function itself raises (a TypeError, an IndexError, a division by zero, …).
    """
    if len(source) > MAX_SOURCE:
        raise NotAllowed("too long")
    match ast.parse(source).body:
        case [ast.FunctionDef(decorator_list=[], returns=None) as function] if function.name == name:
            pass
        case _:
            raise NotAllowed("not one function of that name")
    spec = function.args
    if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs or spec.defaults:
        raise NotAllowed("signature")
    if len(spec.args) != len(arguments):
        raise TypeError("number of arguments")
    frame = _Frame({arg.arg: value for arg, value in zip(spec.args, arguments, strict=True)})
    try:
        frame.run(function.body)
    except _Return as done:
        return done.value
    return None
