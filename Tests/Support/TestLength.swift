import FoundationEssentials

/// How long tests with chance in them go on: shortly, or as long as `Scripts/check --full` has them.
package enum TestLength {
    package static let isFull = ProcessInfo.processInfo.environment["ALCEDO_FULL_TESTS"] == "1"

    package static func rounds(_ short: Int, full: Int) -> Int { isFull ? full : short }
}
