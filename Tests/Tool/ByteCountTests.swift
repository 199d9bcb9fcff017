import Testing

@testable import AlcedoTool

struct ByteCountTests {
    private static let cases: [(count: Int, words: String)] = [
        (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (12_595, "12.3 KiB"), (1_048_524, "1023.9 KiB"),
        (1_048_525, "1.0 MiB"), (1_048_576, "1.0 MiB"), (1_073_741_823, "1.0 GiB"), (1_610_612_736, "1.5 GiB"),
        (1_099_511_627_776, "1024.0 GiB"),
    ]

    @Test(arguments: cases)
    func `a count is written in the largest unit of which it is at least one, after rounding`(count: Int, words: String)
    {
        #expect(ByteCount.words(count) == words)
    }
}
