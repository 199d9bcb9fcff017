import AlcedoLibc
import FoundationEssentials

/// The number of rounds of random tests: few by default, and many with `Scripts/check --full`.
package enum TestLength {
    package static let isFull = ProcessInfo.processInfo.environment["ALCEDO_FULL_TESTS"] == "1"

    package static func rounds(_ short: Int, full: Int) -> Int { isFull ? full : short }
}

/// Whether the address sanitizer is in use. It keeps freed memory, so small amounts of memory cannot be measured.
package let keepsFreedMemory = dlsym(nil, "__asan_init") != nil

/// Whether the thread sanitizer is in use. Its records of memory accesses use memory, too.
package let recordsAccesses = dlsym(nil, "__tsan_init") != nil
