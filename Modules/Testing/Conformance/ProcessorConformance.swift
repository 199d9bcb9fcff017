public import AlcedoCore

/// The contract of ``/AlcedoCore/ImageProcessing``, tested on small images of every pixel format.
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(arguments: ProcessorConformance.checks)
/// func conforms(to check: ProcessorConformance.Check) async throws {
///     try await check { _ in MyProcessor(strength: 3) }
/// }
/// ```
///
/// A processor may reject a format with an ``/AlcedoCore/ImageProcessingError``. It must then reject the format in rows
/// too.
public enum ProcessorConformance: ConformanceKit {
    private static let shapes: [(format: PixelFormat, alphaMode: AlphaMode)] = [
        (.gray8, .opaque), (.rgbx8, .opaque), (.rgba8, .opaque), (.rgba8, .straight), (.rgba8, .premultiplied),
        (.rgba16, .opaque),
        (.rgba16, .straight), (.rgba16, .premultiplied), (.gray16, .opaque),
    ]
    private static let sizes = [(1, 1), (1, 6), (9, 1), (2, 3), (16, 11), (23, 30)].map {
        PixelSize(width: $0.0, height: $0.1)
    }

    /// Images of noise. Every pixel is valid for the alpha mode of its image.
    private static let images: [DecodedImage] = shapes.flatMap { shape in
        sizes.map { DecodedImage.noise($0, shape.format, shape.alphaMode) }
    }

    /// All checks of the contract, for a parameterized test.
    public static let checks: [ConformanceCheck<any ImageProcessing>] = [
        Check("equal processors have the same identifier before and after processing") { make in
            let (one, other) = (try make(ConformanceOptions()), try make(ConformanceOptions()))
            let identifier = one.identifier
            try ConformanceFailure.require(!identifier.isEmpty, "the identifier is empty")
            try ConformanceFailure.require(other.identifier == identifier, "different identifier: \(other.identifier)")
            for image in images { _ = try? one.process(image) }
            try ConformanceFailure.require(
                one.identifier == identifier, "different identifier after processing: \(one.identifier)")
        },
        Check("equal processors produce equal images on each call") { make in
            let (one, other) = (try make(ConformanceOptions()), try make(ConformanceOptions()))
            for image in images {
                let results = [one, other, one].map { try? $0.process(image).pixels }
                try ConformanceFailure.require(
                    results.allSatisfy { $0 == results[0] }, "different results for \(describe(image))")
            }
        },
        Check("processing rows gives exactly the rows of the whole image") { make in
            let processor = try make(ConformanceOptions())
            for image in images {
                let collector = PixelRowCollector()
                let expected = try? processor.process(image)
                do {
                    try image.sendRows(to: processor.rows(into: collector))
                } catch {
                    try ConformanceFailure.require(
                        expected == nil, "processing rows of \(describe(image)) failed: \(error)")
                    continue
                }
                try ConformanceFailure.require(
                    collector.image?.pixels == expected?.pixels, "the rows differ for \(describe(image))")
            }
        },
        Check("processing a partial image gives a partial image") { make in
            let processor = try make(ConformanceOptions())
            for image in images {
                var partial = image
                partial.partialError = ImageDecodingError(.truncated, "the data is truncated")
                guard let result = try? processor.process(partial) else { continue }
                try ConformanceFailure.require(result.isPartial, "the result is not partial: \(describe(image))")
            }
        },
        Check("an opaque result has no transparent pixel") { make in
            try checkPixels(of: try make(ConformanceOptions()), .opaque) { color, alpha, full in alpha == full }
        },
        Check("premultiplied color never exceeds its alpha") { make in
            try checkPixels(of: try make(ConformanceOptions()), .premultiplied) { color, alpha, _ in color <= alpha }
        },
    ]

    /// Checks every pixel of each result that has this alpha mode and a format with alpha. `isRight` receives the
    /// largest color sample, the alpha sample, and the value of full alpha.
    private static func checkPixels(
        of processor: any ImageProcessing, _ alphaMode: AlphaMode, _ isRight: (Int, Int, Int) -> Bool
    ) throws {
        for image in images {
            guard let pixels = try? processor.process(image).pixels, pixels.alphaMode == alphaMode else { continue }
            let full = pixels.format == .rgba16 ? Int(UInt16.max) : Int(UInt8.max)
            // Other formats have no alpha.
            guard pixels.format.hasAlpha else { continue }
            try ConformanceFailure.require(
                samples(of: pixels).allSatisfy { isRight($0[0..<3].max() ?? 0, $0[3], full) },
                "invalid \(alphaMode) pixels for \(describe(image))")
        }
    }

    /// Returns the red, green, blue and alpha samples of every pixel. The format must have four samples per pixel.
    private static func samples(of pixels: PixelBuffer) -> [[Int]] {
        pixels.withUnsafeBytes { memory in
            (0..<pixels.height).flatMap { y in
                (0..<pixels.width).map { x in
                    (0..<4).map { channel in
                        let offset = y * pixels.bytesPerRow + x * pixels.format.bytesPerPixel
                        guard pixels.format == .rgba16 else { return Int(memory[offset + channel]) }
                        return Int(memory.loadUnaligned(fromByteOffset: offset + 2 * channel, as: UInt16.self))
                    }
                }
            }
        }
    }

    private static func describe(_ image: DecodedImage) -> String {
        "\(image.size.width) x \(image.size.height) pixels, \(image.pixels.format), \(image.pixels.alphaMode)"
    }
}

extension DecodedImage {
    static func noise(_ size: PixelSize, _ format: PixelFormat, _ alphaMode: AlphaMode) -> DecodedImage {
        var random = SplitMix64(seed: UInt64(size.width * 31 + size.height))
        let full = format.isDeep ? UInt16.max : 255
        let pixels = PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let offset = y * bytesPerRow + x * format.bytesPerPixel
                    guard format != .gray8 else {
                        memory[offset] = UInt8.random(in: 0...255, using: &random)
                        continue
                    }
                    guard format != .gray16 else {
                        memory.storeBytes(
                            of: UInt16.random(in: 0...full, using: &random), toByteOffset: offset, as: UInt16.self)
                        continue
                    }
                    let alpha = alphaMode == .opaque ? full : UInt16.random(in: 0...full, using: &random)
                    let highest = alphaMode == .premultiplied ? alpha : full
                    let color = (0..<3).map { _ in UInt16.random(in: 0...highest, using: &random) }
                    for (channel, sample) in (color + [alpha]).enumerated() {
                        if format == .rgba16 {
                            memory.storeBytes(of: sample, toByteOffset: offset + 2 * channel, as: UInt16.self)
                        } else {
                            memory[offset + channel] = UInt8(sample)
                        }
                    }
                }
            }
        }
        guard let pixels else { preconditionFailure("cannot allocate a test image of \(size) pixels: out of memory") }
        return DecodedImage(pixels: pixels)
    }
}
