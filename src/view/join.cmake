# Joins the page of src/view/page into one HTML text, and that into a C++ source. Browsers load no modules
# from a file:// address, so the modules become one script: imports go, exports stay as plain names,
# which must therefore differ between all files.
#
# Called as: cmake -D FOLDER=.../page -D OUTPUT=template.cc -P join.cmake
set(modules format decode model palette clock state camera scene pixels traffic hits network strip gantt panel details
            controls main)

set(script "")
foreach(module ${modules})
  file(READ ${FOLDER}/${module}.js text)
  string(REGEX REPLACE "(^|\n)(import [^\n]*\n)+" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(APPEND script "${text}")
endforeach()
file(READ ${FOLDER}/page.css style)
file(READ ${FOLDER}/page.html page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
if(page MATCHES "\\)page\"")
  message(FATAL_ERROR "the page has what ends a raw string")
endif()
file(WRITE ${OUTPUT}
     "// Made by join.cmake.\n#include \"view/template.h\"\n\nnamespace tacos::viewing {\n\n"
     "std::string_view page_template() {\n  return R\"page(${page})page\";\n}\n\n}  // namespace tacos::viewing\n")
