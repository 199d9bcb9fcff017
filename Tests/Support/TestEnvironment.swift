import AlcedoLibc
import FoundationEssentials

/// How long tests with chance in them go on: shortly, or as long as `Scripts/check --full` has them.
package enum TestLength {
    package static let isFull = ProcessInfo.processInfo.environment["ALCEDO_FULL_TESTS"] == "1"

    package static func rounds(_ short: Int, full: Int) -> Int { isFull ? full : short }
}

/// Whether the address sanitizer is at work: it keeps what was freed, so that small amounts of memory say nothing.
package let keepsFreedMemory = dlsym(nil, "__asan_init") != nil

/// Whether the thread sanitizer is in use: its records of which thread accessed which memory take memory, too.
package let recordsAccesses = dlsym(nil, "__tsan_init") != nil
