import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A kit that cannot fail proves nothing, so each of these decoders has one fault.
@Suite(.timeLimit(.minutes(10)))
struct DecoderKitTests {
    enum Fault: CaseIterable {
        case changesItsMind, decodesText, fillsWhatIsMissing, guessesTheSize
        case piecesIgnoreDamage, announcesLess, swapsPieces, turnsRows, ignoresLimits
        case keepsOptions, keepsNoHeader

        /// The checks that must fail.
        var broken: Set<String> {
            switch self {
            case .changesItsMind:
                ["decoding a file twice gives the same image", "an opened image gives the same results in any order"]
            case .decodesText: ["decoding text throws an error"]
            case .fillsWhatIsMissing: ["every prefix of a file throws truncated, whole or in pieces"]
            case .guessesTheSize:
                ["inspecting a prefix gives the information of the file or an error"]
            case .piecesIgnoreDamage: ["a file with flipped bits gives the same result whole and in pieces"]
            case .announcesLess: ["a file with flipped bits gives an error or an image of the inspected size"]
            case .swapsPieces: ["the decoded image does not depend on the chunks of the data"]
            case .turnsRows:
                [
                    "a file with flipped bits gives the same result whole and in pieces",
                    "the decoded rows equal those of the image",
                ]
            case .ignoresLimits: ["the limits of pixels and bytes are enforced"]
            case .keepsOptions, .keepsNoHeader: ["an opened image gives the same results in any order"]
            }
        }
    }

    /// The letters `GRY1`, width and height in two bytes each, the samples, and their sum in a byte.
    private static let file: Data = {
        let samples = (0..<35).map { UInt8($0 * 7) }
        return Data("GRY1".utf8) + [0, 7, 0, 5] + samples + [samples.reduce(0, &+)]
    }()

    @Test(arguments: Fault.allCases)
    func `a decoder with one fault fails exactly the check of that fault`(fault: Fault) async {
        let failed = await failures(of: DecoderConformance.checks) { _ in
            (Decoder(fault), Self.file)
        }
        #expect(failed == fault.broken)
    }

    @Test func `a decoder without a fault fails no check`() async {
        let failed = await failures(of: DecoderConformance.checks) { _ in
            (Decoder(nil), Self.file)
        }
        #expect(failed.isEmpty)
    }

    @Test func `each check of the kit fails for some fault`() {
        let covered = Set(Fault.allCases.flatMap(\.broken))
        #expect(covered == Set(DecoderConformance.checks.map(\.description)))
    }

    /// A reference implementation of the contract, and its faults.
    private struct Decoder: ImageDecoding {
        private static let headerLength = 8
        private let fault: Fault?
        private let calls = Watched(0)

        init(_ fault: Fault?) { self.fault = fault }

        private func isWhole(_ data: Data) -> Bool { data == DecoderKitTests.file }

        func properties(of data: Data, _ limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
            let header = [UInt8](data.prefix(Self.headerLength))
            guard !header.isEmpty else { throw ImageDecodingError(.empty, "the data is empty") }
            guard header.count == Self.headerLength else {
                throw ImageDecodingError(.truncated, "the header is truncated")
            }
            guard header.prefix(4).elementsEqual("GRY1".utf8) || fault == .decodesText && header[0] == 0x6E else {
                throw ImageDecodingError(.corrupt, "not this format")
            }
            var size = PixelSize(
                width: Int(header[4]) << 8 | Int(header[5]), height: Int(header[6]) << 8 | Int(header[7]))
            if header[0] == 0x6E { size = PixelSize(width: 1, height: 1) }
            guard size.width > 0, size.height > 0 else { throw ImageDecodingError(.corrupt, "the image has no pixels") }
            guard size.pixelCount <= limits.maximumPixelCount || fault == .ignoresLimits && isWhole(data) else {
                throw ImageDecodingError(.exceedsLimit, "\(size.width) x \(size.height) pixels exceed the limit")
            }
            if fault == .guessesTheSize, data.count == 20 { size.width += 1 }
            if fault == .announcesLess, !isWhole(data), data.count == DecoderKitTests.file.count, size.height > 1 {
                size.height -= 1
            }
            return ImageInfo(format: ImageFormat(rawValue: "graymap"), size: size, colorModel: .gray)
        }

        func image(
            _ data: Data, _ options: DecodingOptions, isCounted: Bool = false
        ) throws(ImageDecodingError) -> DecodedImage {
            var size = try properties(of: data, options.limits).size
            if fault == .announcesLess, !isWhole(data), data.count == DecoderKitTests.file.count { size.height += 1 }
            if fault == .guessesTheSize, data.count == 20 { size.width -= 1 }
            var samples = [UInt8](data.dropFirst(Self.headerLength))
            if fault == .fillsWhatIsMissing, samples.count == size.pixelCount { samples.append(samples.reduce(0, &+)) }
            if data.first == 0x6E { samples = [0, 0] }
            guard samples.count > size.pixelCount else { throw ImageDecodingError(.truncated, "the samples end early") }
            let sum = samples.prefix(size.pixelCount).reduce(0, &+)
            guard sum == samples[size.pixelCount] || fault == .announcesLess else {
                throw ImageDecodingError(.corrupt, "the sum is wrong")
            }
            let format: PixelFormat = options.pixelFormat == .gray8 ? .gray8 : .rgba8
            let byteCount = PixelBuffer.byteCount(size: size, format: format) ?? .max
            guard byteCount <= options.limits.maximumByteCount || fault == .ignoresLimits else {
                throw ImageDecodingError(.exceedsLimit, "the image is too large")
            }
            // The second time that the whole file is decoded at once.
            if isCounted, fault == .changesItsMind, options.includesAnimation {
                let call = calls.update {
                    $0 += 1
                    return $0
                }
                if call == 2 { samples[0] ^= 1 }
            }
            let width = format.bytesPerPixel
            let pixels = PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        for channel in 0..<width {
                            let sample = channel == 3 ? 255 : samples[y * size.width + x]
                            memory[y * bytesPerRow + x * width + channel] = sample
                        }
                    }
                }
            }
            guard let pixels else {
                throw ImageDecodingError(.outOfMemory, "cannot allocate the pixels: out of memory")
            }
            return DecodedImage(pixels: pixels)
        }

        func sendRows(
            of data: Data, _ options: DecodingOptions, to consumer: any PixelRowConsumer
        ) throws -> ImageDamage? {
            let image = try image(data, options)
            guard fault == .turnsRows else { return try image.sendRows(to: consumer) }
            try consumer.begin(image.rowHeader)
            for y in (0..<image.size.height).reversed() { try consumer.consume(image.pixels.row(y)) }
            try consumer.finish()
            return nil
        }

        func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
            Pieces(decoder: self, options: options, fault: fault)
        }

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            Reader(self, data, try properties(of: data, limits), fault)
        }
    }

    /// An opened image.
    private final class Reader: ImageReading {
        private let decoder: Decoder
        private let data: Data
        private let fault: Fault?
        private let properties: ImageInfo
        private var options: DecodingOptions?

        init(_ decoder: Decoder, _ data: Data, _ properties: ImageInfo, _ fault: Fault?) {
            (self.decoder, self.data, self.properties, self.fault) = (decoder, data, properties, fault)
        }

        var header: ImageHeader {
            let size = fault == .keepsNoHeader ? PixelSize(width: 1, height: 1) : properties.size
            return ImageHeader(format: properties.format, size: size)
        }

        func info() throws(ImageDecodingError) -> ImageInfo { properties }

        func decode(_ new: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let options = fault == .keepsOptions ? self.options ?? new : new
            self.options = options
            return try decoder.image(data, options, isCounted: true)
        }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            PixelBuffer.byteCount(size: properties.size, format: options.pixelFormat) ?? .max
        }

        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            try decoder.sendRows(of: data, options, to: consumer)
        }
    }

    /// Collects the bytes and decodes them at the end.
    private final class Pieces: IncrementalImageDecoding {
        private let decoder: Decoder
        private let options: DecodingOptions
        private let fault: Fault?
        private let data = Watched(Data())

        init(decoder: Decoder, options: DecodingOptions, fault: Fault?) {
            (self.decoder, self.options, self.fault) = (decoder, options, fault)
        }

        var info: ImageInfo? { try? decoder.properties(of: data.value, options.limits) }

        func append(_ bytes: Data) throws(ImageDecodingError) {
            let fault = fault
            data.update { data in
                // Detected only with small pieces.
                if fault == .swapsPieces, data.count == 10, bytes.count == 1 { data[9] ^= 1; data[8] ^= 1 }
                data += bytes
            }
        }

        func preview() throws(ImageDecodingError) -> ImagePreview? { nil }

        func finish() throws(ImageDecodingError) -> DecodedImage {
            do throws(ImageDecodingError) {
                return try decoder.image(data.value, options)
            } catch {
                guard fault == .piecesIgnoreDamage, error.code == .corrupt, data.value.count > 40 else { throw error }
                return try decoder.image(DecoderKitTests.file, options)
            }
        }
    }
}
