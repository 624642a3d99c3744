from collections.abc import Iterable, Iterator, Sequence
from typing import Any

class LibclangError(Exception): ...
class TranslationUnitLoadError(Exception): ...

class File:
    name: str

class SourceLocation:
    file: File | None
    line: int
    column: int
    offset: int

class SourceRange:
    start: SourceLocation
    end: SourceLocation

class Diagnostic:
    Error: int
    severity: int
    location: SourceLocation
    spelling: str

class CursorKind:
    name: str
    def is_expression(self) -> bool: ...
    def is_statement(self) -> bool: ...

class TypeKind:
    name: str

class BinaryOperator:
    name: str

class StorageClass:
    name: str

class Type:
    kind: TypeKind
    spelling: str
    element_type: Type
    element_count: int
    def get_canonical(self) -> Type: ...
    def get_pointee(self) -> Type: ...
    def get_size(self) -> int: ...
    def get_align(self) -> int: ...
    def get_offset(self, fieldname: str) -> int: ...
    def get_fields(self) -> Iterator[Cursor]: ...
    def get_declaration(self) -> Cursor: ...
    def is_const_qualified(self) -> bool: ...
    def is_volatile_qualified(self) -> bool: ...
    def is_restrict_qualified(self) -> bool: ...

class Cursor:
    kind: CursorKind
    spelling: str
    type: Type
    result_type: Type
    location: SourceLocation
    extent: SourceRange
    referenced: Cursor | None
    semantic_parent: Cursor | None
    enum_type: Type
    enum_value: int
    storage_class: StorageClass
    binary_operator: BinaryOperator
    def get_children(self) -> Iterator[Cursor]: ...
    def get_arguments(self) -> Iterator[Cursor]: ...
    def get_definition(self) -> Cursor | None: ...
    def get_tokens(self) -> Iterator[Token]: ...
    def get_usr(self) -> str: ...
    def is_definition(self) -> bool: ...
    def is_bitfield(self) -> bool: ...
    def is_anonymous_record_decl(self) -> bool: ...

class Token:
    spelling: str
    location: SourceLocation

class TranslationUnit:
    PARSE_SKIP_FUNCTION_BODIES: int
    cursor: Cursor
    diagnostics: Iterable[Diagnostic]
    def get_tokens(self, *, extent: SourceRange) -> Iterator[Token]: ...

class Index:
    @staticmethod
    def create() -> Index: ...
    def parse(
        self,
        path: str,
        args: Sequence[str] | None = ...,
        unsaved_files: Sequence[tuple[str, str]] | None = ...,
        options: int = ...,
    ) -> TranslationUnit: ...

class Config:
    lib: Any

conf: Config
