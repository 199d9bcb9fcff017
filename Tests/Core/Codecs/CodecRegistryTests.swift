import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite struct CodecRegistryTests {
    /// Decodes anything to a gray level.
    private struct LevelDecoder: ImageDecoding {
        let level: UInt8

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            let info = ImageInfo(format: .png, size: PixelSize(width: Int(level), height: 1))
            return WholeImageReader(info) { [level] _ in .gray(side: 1, level: level) }
        }
    }

    private func entry(
        _ name: String, level: UInt8, _ recognizes: @escaping @Sendable (RawSpan) -> Bool
    ) -> CodecRegistry.Entry {
        CodecRegistry.Entry(
            format: ImageFormat(rawValue: name), decoder: LevelDecoder(level: level), recognizes: recognizes)
    }

    private func startsWith(_ text: String) -> @Sendable (RawSpan) -> Bool {
        { $0.contains(Array(text.utf8)) }
    }

    @Test func `the Accept field names the formats in order, then any image, then anything`() {
        let names = ["webp", "jpeg", "not a token", "svg"]
        let registry = CodecRegistry(names.map { entry($0, level: 1) { _ in false } })

        #expect(
            registry.acceptFieldValue == "image/webp,image/jpeg,image/svg+xml,image/*;q=0.8,*/*;q=0.5")
        #expect(CodecRegistry([]).acceptFieldValue == "image/*;q=0.8,*/*;q=0.5")
    }

    @Test func `the first codec that recognizes the bytes decodes them`() throws {
        let registry = CodecRegistry([
            entry("never", level: 1) { _ in false }, entry("ab", level: 2, startsWith("ab")),
            entry("a", level: 3, startsWith("a")),
        ])

        #expect(registry.entry(for: Data("abc".utf8))?.format.rawValue == "ab")
        #expect(registry.entry(for: Data("acc".utf8))?.format.rawValue == "a")
        #expect(registry.entry(for: Data("b".utf8)) == nil)
        let image = try registry.decode(Data("abc".utf8))
        #expect(image.pixels == DecodedImage.gray(side: 1, level: 2).pixels)
        #expect(try registry.inspect(Data("acc".utf8)).size.width == 3)
    }

    private func signed(_ name: String, level: UInt8) -> CodecRegistry.Entry {
        CodecRegistry.Entry(
            format: ImageFormat(rawValue: name), decoder: LevelDecoder(level: level),
            signatures: [Array(name.utf8), [UInt8(ascii: "?"), nil, 7]])
    }

    @Test func `a signature may have wildcard bytes, and a file that ends within it is truncated`() throws {
        let registry = CodecRegistry([signed("abcd", level: 1)])

        for whole in [Data("abcd".utf8), Data("abcdef".utf8), Data([0x3F, 9, 7]), Data([0x3F, 0, 7, 1])] {
            #expect(registry.entry(for: whole) != nil)
        }
        for part in [Data("a".utf8), Data("abc".utf8), Data([0x3F]), Data([0x3F, 9])] {
            #expect(registry.entry(for: part) == nil)
            #expect { try registry.inspect(part) } throws: { ($0 as? ImageDecodingError)?.code == .truncated }
        }
        #expect { try registry.inspect(Data("abd".utf8)) } throws: {
            ($0 as? ImageDecodingError)?.code == .unknownFormat
        }
    }

    /// Returns the number of bytes after which an incremental decoder has detected the format.
    private func bytesNeeded(_ registry: CodecRegistry, _ text: String) throws -> Int {
        let decoder = registry.makeIncrementalDecoder()
        var count = 0
        for byte in Data(text.utf8) {
            do throws(ImageDecodingError) { try decoder.append(Data([byte])) } catch { break }
            count += 1
        }
        return count
    }

    @Test func `pieces are decoded as soon as no earlier format can match`() throws {
        /// Refuses its first byte, so that the test detects when it begins.
        struct Refusing: ImageDecoding {
            func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
                throw ImageDecodingError(.corrupt, "refused")
            }
            func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding { Refusal() }
        }
        final class Refusal: IncrementalImageDecoding {
            let info: ImageInfo? = nil
            func append(_ bytes: Data) throws(ImageDecodingError) { throw ImageDecodingError(.corrupt, "refused") }
            func preview() throws(ImageDecodingError) -> ImagePreview? { nil }
            func finish() throws(ImageDecodingError) -> DecodedImage { throw ImageDecodingError(.corrupt, "refused") }
        }
        let short = CodecRegistry.Entry(
            format: ImageFormat(rawValue: "ab"), decoder: Refusing(), signatures: [Array("ab".utf8)])
        let text = "abcx" + String(repeating: "-", count: 100)

        #expect(try bytesNeeded(CodecRegistry([short]), text) == 1)
        // Up to the fourth byte it may be the first format.
        #expect(try bytesNeeded(CodecRegistry([signed("abcd", level: 1), short]), text) == 3)
        // The bytes that a format without signatures needs are unknown.
        #expect(try bytesNeeded(CodecRegistry([entry("x", level: 1) { _ in false }, short]), text) == 63)
    }

    @Test func `a format check receives the first bytes only, also of a slice`() {
        let registry = CodecRegistry([entry("a", level: 1) { $0.byteCount == 64 && $0.contains([1, 2]) }])
        let data = Data([0, 0, 1, 2]) + Data(count: 1000)

        #expect(registry.entry(for: data) == nil)
        #expect(registry.entry(for: data.dropFirst(2)) != nil)
        #expect(registry.entry(for: Data([1, 2])) == nil)
    }

    private static let unrecognized =
        "cannot decode the data: no registered codec recognizes it (registered: a, b)"

    @Test(arguments: [
        ("", ImageDecodingError.Code.empty, "cannot decode the data: it is empty"),
        ("\u{1}\u{2}", .unknownFormat, "\(unrecognized); add its codec to the CodecRegistry"),
        ("<!DOCTYPE html>", .unknownFormat, "\(unrecognized); the data is text, possibly an HTML page"),
        (
            "\u{FEFF}\r\n  {\"error\": 1}", .unknownFormat,
            "\(unrecognized); the data is text, possibly an HTML page"
        ),
    ])
    func `bytes of an unknown format are an error that describes them`(
        text: String, code: ImageDecodingError.Code, message: String
    ) {
        let registry = CodecRegistry([
            entry("a", level: 1) { _ in false }, entry("b", level: 1) { _ in false },
        ])

        let decoding = #expect(throws: ImageDecodingError.self) { try registry.decode(Data(text.utf8)) }
        let inspecting = #expect(throws: ImageDecodingError.self) { try registry.inspect(Data(text.utf8)) }

        #expect(decoding == ImageDecodingError(code, message))
        #expect(inspecting == decoding)
    }

    /// The first bytes of files, of which each is a scalar of the text.
    @Test(arguments: [
        ("\0\0\u{2}\0\u{1}\0", "a Windows cursor (CUR)"), ("\u{1F}\u{8B}\u{8}", "compressed by gzip"),
        ("\u{FF}\u{A}\u{10}", "JPEG XL, which needs the package trait JXL"),
        ("II*\0", "TIFF, which needs the package trait TIFF"),
        ("MM\0+\0", "TIFF, which needs the package trait TIFF"),
        ("\0\0\0\u{10}ftypmif3heic", "HEIF or AVIF in the compact form"),
        ("\0\0\0\u{14}ftypmif1\0\0\0\0avif", "AVIF, which needs the package trait AVIF"),
        ("\0\0\0\u{14}ftypheic\0\0\0\0mif1", "HEIF, which needs the package traits HEIF and Sandbox"),
        ("<?xml version='1.0'?><svg/>", "SVG, which needs the package trait SVG"),
    ])
    func `the error of a known format without a codec names the format`(text: String, name: String) {
        let data = Data(text.unicodeScalars.map { UInt8($0.value) })

        let error = #expect(throws: ImageDecodingError.self) { try CodecRegistry([]).inspect(data) }

        #expect(error?.code == .unknownFormat)
        #expect(error?.message.contains("; the data is \(name)") == true)
    }

    @Test(arguments: ["<html><svg></svg></html>", "\0\0\0\u{10}ftypqt  \0\0\0\0", "ftyp", "\0\0\0\0ftyp"])
    func `the error of another format names none`(text: String) {
        let error = #expect(throws: ImageDecodingError.self) { try CodecRegistry([]).inspect(Data(text.utf8)) }

        #expect(error?.message.contains("the package trait") == false)
    }

    @Test func `adding a codec returns a new registry and leaves the old one unchanged`() {
        let first = CodecRegistry([])
        let second = first.adding(entry("a", level: 1) { _ in true })
        #expect(first.entry(for: Data([1])) == nil)
        #expect(second.entry(for: Data([1])) != nil)
    }

    @Test func `a codec of a new format is added at the end`() throws {
        let registry = CodecRegistry([entry("a", level: 1, startsWith("a"))]).adding(entry("b", level: 2) { _ in true })

        #expect(registry.entries.map(\.format.rawValue) == ["a", "b"])
        #expect(try registry.inspect(Data("a".utf8)).size.width == 1)
        #expect(try registry.inspect(Data("x".utf8)).size.width == 2)
    }

    @Test func `a codec of a known format replaces the others of that format`() throws {
        let names = ["a", "b", "c", "b", "d"]
        let registry = CodecRegistry(names.map { entry($0, level: 1) { _ in true } })
            .adding(entry("b", level: 7) { _ in true })

        #expect(registry.entries.map(\.format.rawValue) == ["a", "b", "c", "d"])
        #expect(try registry.entries[1].decoder.inspect(Data([1]), limits: DecodingLimits()).size.width == 7)
    }
}
