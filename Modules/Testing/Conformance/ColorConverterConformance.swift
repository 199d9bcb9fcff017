public import AlcedoCore
import FoundationEssentials

/// The contract of ``/AlcedoCore/ColorConverting``, tested on rows of every pixel format.
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(arguments: ColorConverterConformance.checks)
/// func conforms(to check: ColorConverterConformance.Check) async throws {
///     try await check { _ in MyColorConverter() }
/// }
/// ```
public enum ColorConverterConformance: ConformanceKit {
    private static let images: [DecodedImage] = [
        (PixelFormat.gray8, AlphaMode.opaque), (.rgbx8, .opaque), (.rgba8, .opaque), (.rgba8, .straight),
        (.rgba8, .premultiplied), (.rgba16, .opaque), (.rgba16, .straight), (.rgba16, .premultiplied),
        (.gray16, .opaque),
    ].flatMap { format, alphaMode in
        [1, 2, 33].map { DecodedImage.noise(PixelSize(width: $0, height: 3), format, alphaMode) }
    }

    /// All checks of the contract, for a parameterized test.
    public static let checks: [ConformanceCheck<any ColorConverting>] = [
        Check("rows without a profile need no conversion to sRGB") { make in
            let converter = try make(ConformanceOptions())
            for image in images {
                try ConformanceFailure.require(
                    try converter.conversion(of: image.rowHeader, to: .sRGB) == nil, "\(describe(image)) are converted")
            }
        },
        Check("bytes that are no profile are an error") { make in
            let converter = try make(ConformanceOptions())
            for bytes in [Data(), Data([0]), Data(repeating: 0xA5, count: 500)] {
                for image in images {
                    var header = image.rowHeader
                    header.colorProfile = bytes
                    try ConformanceFailure.require(
                        !accepts(header, converter), "\(bytes.count) bytes are accepted as a profile")
                }
            }
        },
        Check("a conversion gives equal rows on each call") { make in
            let (one, other) = (try make(ConformanceOptions()), try make(ConformanceOptions()))
            for image in images {
                let results = try [one, other, one].map { try $0.converted(image, to: .displayP3).pixels }
                try ConformanceFailure.require(
                    results.allSatisfy { $0 == results[0] }, "different results for \(describe(image))")
            }
        },
        Check("alpha is not changed") { make in
            let converter = try make(ConformanceOptions())
            for image in images where !image.pixels.format.isGray {
                let result = try converter.converted(image, to: .displayP3)
                try ConformanceFailure.require(
                    alpha(of: result.pixels) == alpha(of: image.pixels), "alpha differs in \(describe(image))")
            }
        },
        Check("premultiplied color never exceeds its alpha") { make in
            let converter = try make(ConformanceOptions())
            for image in images where image.pixels.alphaMode == .premultiplied {
                let result = try converter.converted(image, to: .displayP3).pixels
                let pixels = zip(highestColors(of: result), alpha(of: result))
                try ConformanceFailure.require(
                    pixels.allSatisfy { $0 <= $1 }, "color exceeds alpha in \(describe(image))")
            }
        },
    ]

    private static func accepts(_ header: PixelRowHeader, _ converter: any ColorConverting) -> Bool {
        do {
            _ = try converter.conversion(of: header, to: .sRGB)
            return true
        } catch {
            return false
        }
    }

    private static func alpha(of pixels: PixelBuffer) -> [Int] { samples(of: pixels).map { $0[3] } }

    private static func highestColors(of pixels: PixelBuffer) -> [Int] {
        samples(of: pixels).map { max($0[0], $0[1], $0[2]) }
    }

    /// Returns the four samples of every pixel.
    private static func samples(of pixels: PixelBuffer) -> [[Int]] {
        (0..<pixels.height).flatMap { y in
            pixels.row(y).withUnsafeBytes { row in
                (0..<pixels.width).map { x in
                    (0..<4).map { channel in
                        guard pixels.format == .rgba16 else { return Int(row[4 * x + channel]) }
                        return Int(row.loadUnaligned(fromByteOffset: 8 * x + 2 * channel, as: UInt16.self))
                    }
                }
            }
        }
    }

    private static func describe(_ image: DecodedImage) -> String {
        "rows of \(image.size.width) pixels, \(image.pixels.format), \(image.pixels.alphaMode)"
    }
}
