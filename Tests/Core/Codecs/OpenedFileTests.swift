import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite struct OpenedFileTests {
    private let parses = Watched<[DecodingLimits]>([])
    private let data = Data(repeating: 7, count: 1_000)

    /// Opens a file whose content is its number of bytes.
    private func open(_ data: Data, limits: DecodingLimits = DecodingLimits()) throws -> OpenedFile<Int> {
        try OpenedFile(data, of: "test", limits: limits) { [parses] bytes, limits throws(ImageDecodingError) in
            parses.update { $0.append(limits) }
            if bytes[0] == 0 { throw ImageDecodingError(.corrupt, "zero") }
            return bytes.count
        }
    }

    @Test func `a file is parsed once for all that is read`() throws {
        let file = try open(data)
        for _ in 0..<3 {
            let (count, first) = try file.withFile { count, bytes throws(ImageDecodingError) in (count, bytes[0]) }
            #expect(count == 1_000)
            #expect(first == 7)
        }
        try file.takeFile { _, _ throws(ImageDecodingError) in }
        #expect(parses.value.count == 1)
    }

    @Test func `a file whose rows are read stays parsed, also after an error`() throws {
        let file = try open(data)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try file.withFileForRows { _, _ in throw Refusal() } }
        #expect(try file.withFileForRows { count, _ in count } == 1_000)
        #expect(parses.value.count == 1)
        #expect(file.parseCount == 1)
    }

    @Test func `a file that was taken is parsed again`() throws {
        let file = try open(data)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try file.takeFileForRows { _, _ in throw Refusal() } }
        #expect(try file.takeFileForRows { count, _ in count } == 1_000)
        #expect(parses.value.count == 2)
    }

    @Test func `a file is parsed again for other limits`() throws {
        let file = try open(data)
        let other = DecodingLimits(maximumPixelCount: 1)
        try file.withFile(other) { _, _ throws(ImageDecodingError) in }
        try file.withFile(other) { _, _ throws(ImageDecodingError) in }
        try file.withFile { _, _ throws(ImageDecodingError) in }
        #expect(parses.value == [DecodingLimits(), other, DecodingLimits()])
    }

    @Test func `data without bytes and data that cannot be parsed are errors`() {
        #expect { try open(Data()) } throws: { ($0 as? ImageDecodingError)?.code == .empty }
        #expect(throws: ImageDecodingError(.corrupt, "zero")) { try open(Data([0])) }
    }

    @Test func `data of a few bytes is read where it is`() throws {
        let file = try open(Data([1, 2]))
        #expect(try file.withFile { count, bytes throws(ImageDecodingError) in Int(bytes[1]) + count } == 4)
    }
}
