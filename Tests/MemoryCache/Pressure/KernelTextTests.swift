@testable import AlcedoMemoryCache
import Testing

@Suite struct KernelTextTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [("0", 0), ("4096\n", 4096), ("  7 \n", 7), ("9223372036854775807\n", Int.max), ("007", 7)])
    func `a kernel file with one number is parsed as that number`(text: String, number: Int) {
        #expect(KernelText.number(bytes(text)) == number)
    }

    @Test(arguments: MalformedText.numbers)
    func `text that is not a number in range is parsed as nil`(text: [UInt8]) {
        #expect(KernelText.number(text) == nil)
        #expect(KernelText.limit(text) == nil)
    }

    @Test func `max and the huge number of cgroup v1 mean no limit`() {
        #expect(KernelText.limit(bytes("max\n")) == nil)
        #expect(KernelText.limit(bytes("9223372036854771712\n")) == nil)
        #expect(KernelText.limit(bytes("9223372036854710272\n")) == nil)
        #expect(KernelText.limit(bytes("536870912\n")) == 536_870_912)
        #expect(KernelText.limit(bytes("0\n")) == 0)
    }

    @Test func `a value is found by its whole key, in the first line that has this key`() {
        let text = bytes("low 1\nhigh 2\nhigh_max 9\nmax 3\nhigh 4\noom")

        #expect(KernelText.number(after: "high", in: text) == 2)
        #expect(KernelText.number(after: "max", in: text) == 3)
        #expect(KernelText.number(after: "hig", in: text) == nil)
        #expect(KernelText.number(after: "oom", in: text) == nil)
    }

    @Test func `meminfo values are in kibibytes`() {
        let text = bytes("MemTotal:       24684100 kB\nMemAvailable:\t5 kB")

        #expect(KernelText.byteCount(after: "MemTotal:", in: text) == 24_684_100 * 1024)
        #expect(KernelText.byteCount(after: "MemAvailable:", in: text) == 5 * 1024)
        #expect(KernelText.byteCount(after: "MemTotal:", in: bytes("MemTotal: 9223372036854775807 kB\n")) == nil)
    }

    @Test func `a field is found by its whole name, in the first line that begins with the key`() {
        let text = bytes("some avg10=0.00 total=12 subtotal=3\nfull total=7\nfull total=8\nhalf total\n")

        #expect(KernelText.number(of: "total", after: "some", in: text) == 12)
        #expect(KernelText.number(of: "total", after: "full", in: text) == 7)
        #expect(KernelText.number(of: "avg10", after: "some", in: text) == nil)
        #expect(KernelText.number(of: "tot", after: "some", in: text) == nil)
        #expect(KernelText.number(of: "total", after: "som", in: text) == nil)
        #expect(KernelText.number(of: "total", after: "half", in: text) == nil)
    }

    @Test(arguments: MalformedText.lines)
    func `looking for a key in malformed text does not trap`(text: [UInt8]) {
        for key in ["high", "MemTotal:", "", "max"] {
            #expect(KernelText.number(after: key, in: text) == nil)
            #expect(KernelText.byteCount(after: key, in: text) == nil)
            #expect(KernelText.number(of: "total", after: key, in: text) == nil)
        }
        #expect(StallCount(text) == nil)
    }
}
