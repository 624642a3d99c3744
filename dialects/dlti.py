"""The data layout dialect: xDSL's, which also parses the older syntax of specifications."""

from __future__ import annotations

from xdsl.dialects import dlti
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Dialect
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser


@irdl_attr_definition(init=False)
class DataLayoutSpecAttr(dlti.DLTIEntryMap):
    """A data layout.

    Both `#dlti.dl_spec<"dlti.endianness" = "little">` and
    `#dlti.dl_spec<#dlti.dl_entry<"dlti.endianness", "little">>` are read.
    """

    name = "dlti.dl_spec"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[ArrayAttr[dlti.DataLayoutEntryAttr]]:
        def parse_entry() -> dlti.DataLayoutEntryAttr:
            key = parser.parse_attribute()
            if isinstance(key, dlti.DataLayoutEntryAttr):
                return key
            parser.parse_punctuation("=")
            return dlti.DataLayoutEntryAttr.new((key, parser.parse_attribute()))

        entries = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
        return (ArrayAttr(entries),)


DLTI = Dialect(
    "dlti",
    list(dlti.DLTI.operations),
    [
        DataLayoutSpecAttr if attribute.name == DataLayoutSpecAttr.name else attribute
        for attribute in dlti.DLTI.attributes
    ],
)
