import Testing

@testable import AlcedoTool

struct ByteCountTests {
    @Test(
        arguments: [
            (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (12_595, "12.3 KiB"),
            ((1 << 20) - 52, "1023.9 KiB"), ((1 << 20) - 51, "1.0 MiB"), ((1 << 20) - 1, "1.0 MiB"),
            (1 << 20, "1.0 MiB"), ((1 << 30) - 1, "1.0 GiB"), (3 << 29, "1.5 GiB"), (1 << 40, "1024.0 GiB"),
        ])
    func `a count is written in the largest unit of which it is at least one, after rounding`(count: Int, words: String)
    {
        #expect(ByteCount.words(count) == words)
    }
}
