import AlcedoCore
import AlcedoRuntime
import Testing

@Suite struct DurationTests {
    @Test(arguments: [
        (Duration.zero, 0), (.milliseconds(1), 1), (.microseconds(1999), 1), (.seconds(2), 2000),
        (.milliseconds(-1), -1), (.microseconds(-1999), -1), (.milliseconds(-2500), -2500),
        (.seconds(Int64.max), Int.max), (.seconds(Int64.min), Int.min),
    ])
    func `milliseconds are rounded towards zero and clamped`(duration: Duration, expected: Int) {
        #expect(duration.milliseconds == expected)
    }
}
