import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import Foundation
import TestSupport
import Testing

#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif

@testable import AlcedoTool

/// `inspect` reports an error for each image that a decoder refuses because of a limit, in every format.
@Suite struct InspectLimitTests {
    private static let size = PixelSize(width: 40, height: 40)

    private static let encoders: [ImageEncoder] = {
        var encoders: [ImageEncoder] = [.png(), .jpeg(), .gif(), .webp()]
        #if AVIF
            encoders.append(.avif(speed: 9))
        #endif
        #if JXL
            encoders.append(.jxl(effort: 2))
        #endif
        return encoders
    }()

    /// Returns the codes of the errors of `inspect` and of a decode with all frames.
    private func codes(_ data: Data, _ limits: DecodingLimits) -> [String?] {
        let inspector = Inspector(
            codecs: .programs, limits: limits, tolerance: .wrongPixels, decodesPixels: false, makesPlaceholders: false)
        let report = inspector.inspect(data, ImageReport(input: "image"))
        do {
            _ = try CodecRegistry.programs.decode(data, options: DecodingOptions(limits: limits))
            return [report.errorCode, nil]
        } catch {
            return [report.errorCode, error.code.rawValue]
        }
    }

    /// A bitmap without compression, of white pixels.
    private func bitmap() -> Data {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        let byteCount = 3 * Self.size.pixelCount
        let fields = [
            (54 + byteCount, 4), (0, 4), (54, 4), (40, 4), (Self.size.width, 4), (Self.size.height, 4), (1, 2), (24, 2),
            (0, 24),
        ]
        let header = Array("BM".utf8) + fields.flatMap { number($0.0, $0.1) }
        return Data(header + [UInt8](repeating: 255, count: byteCount))
    }

    @Test func `the limit of pixels is the same for inspect and for each decoder`() throws {
        let image = DecodedImage.coordinates(Self.size)
        for data in try Self.encoders.map({ try $0.encode(image) }) + [bitmap()] {
            let format = CodecRegistry.programs.entry(for: data)?.format.rawValue ?? "unknown"
            let count = Self.size.pixelCount
            #expect(codes(data, DecodingLimits(maximumPixelCount: count)) == [nil, nil], "\(format)")
            let refused = codes(data, DecodingLimits(maximumPixelCount: count - 1))
            #expect(refused == ["exceedsLimit", "exceedsLimit"], "\(format)")
        }
    }

    @Test func `the limits of frames are the same for inspect and for each decoder`() throws {
        let frames = (0..<3).map { DecodedImage.gray(side: Self.size.width, level: UInt8(100 * $0)).pixels }
        let image = DecodedImage(
            pixels: frames[0], frames: MadeFrames(Self.size, frames.map { ($0, .milliseconds(100)) }))
        for encoder in Self.encoders where encoder.canEncode(image) {
            let data = try encoder.encode(image)
            let total = 3 * Self.size.pixelCount
            let allowed = DecodingLimits(maximumFrameCount: 3, maximumTotalPixelCount: total)
            #expect(codes(data, allowed) == [nil, nil], "\(encoder.format)")
            for limits in [
                DecodingLimits(maximumFrameCount: 2), DecodingLimits(maximumTotalPixelCount: total - 1),
            ] {
                #expect(codes(data, limits) == ["exceedsLimit", "exceedsLimit"], "\(encoder.format) \(limits)")
            }
        }
    }
}
