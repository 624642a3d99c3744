"""Headers, CMake and pkg-config files of a library."""

from __future__ import annotations

from .cpp_header import cpp_header
from .shared_library import SharedLibrary


def package_files(library: SharedLibrary, version: str) -> dict[str, str]:
    """The files by path below the folder of the library, in which they can be moved together."""
    name = library.name
    return {
        f"include/{name}.h": library.header,
        f"include/{name}.hpp": cpp_header(library),
        f"lib/pkgconfig/{name}.pc": _PKG_CONFIG.format(
            name=name,
            version=version,
            functions=", ".join(interface.symbol for interface in library.interfaces),
        ),
        f"lib/cmake/{name}/{name}Config.cmake": _CMAKE.replace("@NAME@", name),
        f"lib/cmake/{name}/{name}ConfigVersion.cmake": _CMAKE_VERSION.replace("@", version),
    }


_PKG_CONFIG = """\
prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: {name}
Description: {functions}, compiled by loopwright
Version: {version}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -l{name}
"""

_CMAKE = """\
# find_package(@NAME@ CONFIG) and target_link_libraries(main PRIVATE @NAME@::@NAME@)
get_filename_component(_@NAME@_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET @NAME@::@NAME@)
  add_library(@NAME@::@NAME@ SHARED IMPORTED)
  set_target_properties(@NAME@::@NAME@ PROPERTIES
    IMPORTED_LOCATION "${_@NAME@_prefix}/lib/lib@NAME@.so"
    IMPORTED_SONAME "lib@NAME@.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_@NAME@_prefix}/include")
endif()
"""

_CMAKE_VERSION = """\
set(PACKAGE_VERSION "@")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
"""
