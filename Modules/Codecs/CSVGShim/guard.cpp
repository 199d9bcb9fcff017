// Without the trait SVG, nothing calls the function, and the library of C++ is not needed.
#ifdef ALCEDO_SVG
#include <csetjmp>
#include <cxxabi.h>

extern "C" int alcedo_svg_guard(void (*work)(void *), void *context) {
    // A handler of an exception that is not one of C++ records it here until it ends.
    void **caught = reinterpret_cast<void **>(abi::__cxa_get_globals());
    void *const before = *caught;
    std::jmp_buf end;
    if (setjmp(end)) {
        *caught = before;
        return 0;
    }
    try {
        work(context);
    } catch (...) {
        // The regular end of the handler would destroy the panic, and Rust ends the process when another language
        // does. The message of the panic leaks instead.
        std::longjmp(end, 1);
    }
    return 1;
}
#endif
