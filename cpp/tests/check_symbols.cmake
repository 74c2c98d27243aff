# The object compiled for AVX2 may define one symbol, its entry. Anything else that the linker can see (a function of the
# standard library, an inline function of ours) it could take for the whole module, and a machine without AVX2 would
# run it. cmake -D NM=nm -D OBJECT=batch_avx2.o -P check_symbols.cmake
execute_process(COMMAND ${NM} -C --defined-only --extern-only ${OBJECT}
                OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${NM} cannot read ${OBJECT}")
endif()
string(REGEX REPLACE "[0-9a-f]+ V DW\\.ref\\.__gxx_personality_v0\n" "" symbols "${symbols}")  # an address, no code
string(REGEX REPLACE "\n$" "" symbols "${symbols}")
if(NOT symbols MATCHES "^[0-9a-f]+ T thunder::batch_avx2\\([^\n]*$")
  message(FATAL_ERROR "only thunder::batch_avx2 may be visible, found\n${symbols}")
endif()
