import Alcedo
import AlcedoPlaceholders
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Several variants of one decode, their properties, and the placeholders.
@Suite(.timeLimit(.minutes(5)))
struct ImageVariantTests {
    private typealias Variant = ImageConverter.Variant

    private static let jpegSignature: [UInt8?] = [0xFF, 0xD8, 0xFF]
    private static let pngSignature: [UInt8?] = [0x89, 0x50, 0x4E, 0x47]
    private static let gifSignature: [UInt8?] = Array("GIF8".utf8)

    private func photo() throws -> Data { try SampleImages.data("dunes.jpg") }

    private func info(_ image: ConvertedImage) throws -> ImageInfo { try CodecRegistry.standard.inspect(image.data) }

    @Test func `a source is opened and decoded once for all variants and placeholders`() async throws {
        let decoder = WatchedDecoder(JPEGDecoder())
        let converter = ImageConverter(codecs: decoder.codecs(for: .jpeg, signature: Self.jpegSignature))

        let images = try await converter.convert(
            photo(),
            to: [
                Variant(.resize(width: 100), .webp()), Variant(.resize(width: 300), .jpeg()),
                Variant(.png(), fitting: PixelSize(width: 40, height: 40)),
            ], placeholders: [.blurHash, .thumbHash, .dominantColor])

        #expect(decoder.calls.value.opens == 1)
        #expect(decoder.calls.value.decodes.map(\.target) == [TargetSize(width: 600, height: Int.max)])
        let sizes = [(100, 67), (300, 200), (40, 27)].map { PixelSize(width: $0, height: $1) }
        #expect(images.variants.map(\.size) == sizes)
        #expect(images.variants.map(\.mediaType) == ["image/webp", "image/jpeg", "image/png"])
        for image in images.variants {
            #expect(try info(image).format == image.format)
            #expect(try info(image).size == image.size)
            #expect(image.frameCount == 1)
        }
        #expect(images.source.size == PixelSize(width: 1200, height: 800))
        #expect(images.damage == nil)
    }

    @Test func `a variant equals that of a conversion of its own`() async throws {
        let image = try CodecRegistry.standard.decode(photo())
        let source = try ImageEncoder.png().encode(image)
        let variants = [
            Variant(.resize(width: 500), .png()), Variant(.png(), fitting: PixelSize(width: 90, height: 60)),
            Variant(.webp(lossless: true), processors: [.grayscale]), Variant(.jpeg()),
        ]

        let together = try await ImageConverter().convert(source, to: variants)

        for (variant, image) in zip(variants, together.variants) {
            #expect(try await ImageConverter().convert(source, to: [variant]).variants[0].data == image.data)
        }
    }

    // A JPEG is decoded at the size of the largest variant, from which the others are filtered.
    @Test func `a variant beside a larger one is as good as one that is made alone`() async throws {
        let full = try CodecRegistry.standard.decode(photo())
        let variants = [200, 60].map { Variant(.resize(width: $0), .png()) }
        let together = try await ImageConverter().convert(photo(), to: variants).variants
        for (variant, image) in zip(variants, together) {
            let exact = try variant.processors[0].process(full)
            let alone = try await ImageConverter().convert(photo(), to: [variant]).variants[0]
            func ratio(_ image: ConvertedImage) throws -> Double {
                ImageDifference(try CodecRegistry.standard.decode(image.data).pixels, exact.pixels).ratio
            }
            #expect(try ratio(image) >= min(ratio(alone), 50) - 0.5)
        }
    }

    // The mode `.fill` needs both sides.
    @Test func `a cover is decoded as small as a fit of the same pixels`() async throws {
        let square = PixelSize(width: 60, height: 60)
        let crop: any ImageProcessing = .crop(to: square)
        let covers: [Variant] = [
            Variant(.jpeg(), processors: [.resize(filling: square), crop]),
            Variant(.composition([.resize(filling: square), crop]), .jpeg()),
            Variant(ImageProcessors.Resize(to: square, mode: .cover), .jpeg()),
        ]
        for cover in covers {
            let decoder = WatchedDecoder(JPEGDecoder())
            let converter = ImageConverter(codecs: decoder.codecs(for: .jpeg, signature: Self.jpegSignature))

            let image = try await converter.convert(photo(), to: [cover]).variants[0]
            let covered = decoder.calls.value.rows
            // A fit with as many pixels between its sides.
            _ = try await converter.convert(photo(), to: [Variant(.resize(width: 90, height: 60), .jpeg())])
            let fitted = decoder.calls.value.rows - covered

            #expect(image.size == square)
            #expect(decoder.calls.value.decodes[0].target == TargetSize(width: 120, height: 120, mode: .fill))
            #expect(covered == fitted)
            #expect(covered < 800)
        }
    }

    @Test func `a crop before a resize is decoded as small as the resize permits`() async throws {
        let full = try CodecRegistry.standard.decode(photo())
        let decoder = WatchedDecoder(JPEGDecoder())
        let codecs = decoder.codecs(for: .jpeg, signature: Self.jpegSignature)
        let crop: any ImageProcessing = .crop(x: 203, y: 97, width: 606, height: 402)
        let resize: any ImageProcessing = .resize(width: 60)
        let variant = Variant(.png(), processors: [crop, resize])

        let image = try await ImageConverter(codecs: codecs).convert(photo(), to: [variant]).variants[0]

        // The part is needed at 120 x 80.
        #expect(decoder.calls.value.decodes.map(\.target) == [TargetSize(width: 238, height: 160, mode: .fill)])
        #expect(decoder.calls.value.rows == 400)
        #expect(image.size == PixelSize(width: 60, height: 40))
        let exact = try resize.process(try crop.process(full)).pixels
        let difference = ImageDifference(try CodecRegistry.standard.decode(image.data).pixels, exact)
        #expect(difference.mean <= 0.75, "\(difference)")
        #expect(difference.shareWithinLimit >= 0.999, "\(difference)")
        // A processor in between needs the full size.
        let gray = Variant(.png(), processors: [crop, .grayscale, resize])
        _ = try await ImageConverter(codecs: codecs).convert(photo(), to: [gray])
        #expect(decoder.calls.value.decodes[1].target == nil)
        #expect(decoder.calls.value.rows == 400 + 800)
    }

    @Test(arguments: [true, false])
    func `a crop before a resize refers to the rows of a turned image`(isUpright: Bool) async throws {
        let turned = try SampleImages.data("turned.jpg")
        let info = try CodecRegistry.standard.inspect(turned)
        try #require(info.orientation.swapsSides)
        let options = DecodingOptions(appliesOrientation: isUpright)
        let full = try CodecRegistry.standard.decode(turned, options: options)
        let crop: any ImageProcessing = .crop(
            x: full.size.width / 5, y: full.size.height / 3, width: full.size.width / 2,
            height: full.size.height / 2)
        let resize: any ImageProcessing = .resize(width: full.size.width / 20)
        let converter = ImageConverter(appliesOrientation: isUpright)

        let image = try await converter.convert(turned, to: [Variant(.png(), processors: [crop, resize])]).variants[0]

        let exact = try resize.process(try crop.process(full)).pixels
        let stored = try CodecRegistry.standard.decode(
            image.data, options: DecodingOptions(appliesOrientation: false))
        try #require(stored.size == exact.size)
        let difference = ImageDifference(stored.pixels, exact)
        #expect(difference.mean <= 1, "\(difference)")
    }

    @Test(arguments: [90, 180, 270])
    func `a conversion rotates by a right angle without the loss of a row or a column`(angle: Int) async throws {
        let size = PixelSize(width: 37, height: 23)
        let source = DecodedImage.coordinates(size)
        let file = try ImageEncoder.png().encode(source)
        let turn: any ImageProcessing = .rotate(clockwise: Double(angle))
        let back: any ImageProcessing = .rotate(clockwise: Double(360 - angle))

        let images = try await ImageConverter().convert(
            file, to: [Variant(.png(), processors: [turn]), Variant(.png(), processors: [turn, back])])

        let turned = try CodecRegistry.standard.decode(images.variants[0].data).pixels
        #expect(turned.size == (angle == 180 ? size : size.transposed))
        for y in 0..<turned.height {
            for x in 0..<turned.width {
                let (left, top) =
                    switch angle {
                    case 90: (y, size.height - 1 - x)
                    case 180: (size.width - 1 - x, size.height - 1 - y)
                    default: (size.width - 1 - y, x)
                    }
                #expect(turned.rgba(x, y) == source.pixels.rgba(left, top), "\(x), \(y)")
            }
        }
        let same = try CodecRegistry.standard.decode(images.variants[1].data).pixels
        #expect(same.tightBytes == source.pixels.tightBytes)
    }

    @Test func `a part of an image of a format that is not reduced equals the crop and the resize`() async throws {
        let full = try CodecRegistry.standard.decode(photo())
        let crop: any ImageProcessing = .crop(aspect: PixelSize(width: 1, height: 1), at: .left)
        let resize: any ImageProcessing = .resize(width: 101)
        for encoder in [ImageEncoder.png(), .webp(lossless: true)] {
            let image = try await ImageConverter().convert(
                encoder.encode(full), to: [Variant(.composition([crop, resize]), .png())]
            ).variants[0]
            let exact = try resize.process(try crop.process(full)).pixels
            #expect(ImageDifference(try CodecRegistry.standard.decode(image.data).pixels, exact).ratio == .infinity)
        }
    }

    @Test func `a processor of the converter that goes first decides the size of the decode`() async throws {
        let decoder = WatchedDecoder(JPEGDecoder())
        let codecs = decoder.codecs(for: .jpeg, signature: Self.jpegSignature)
        let square = PixelSize(width: 60, height: 60)
        let converter = ImageConverter(codecs: codecs, processors: [.resize(filling: square), .crop(to: square)])

        let images = try await converter.convert(photo(), to: [Variant(.jpeg()), Variant(.grayscale, .jpeg())])

        // The second variant begins with a processor that needs the full size.
        #expect(decoder.calls.value.decodes.map(\.target) == [nil])
        #expect(images.variants.map(\.size) == [square, square])
        _ = try await converter.convert(photo(), to: .jpeg())
        #expect(decoder.calls.value.decodes[1].target == TargetSize(width: 120, height: 120, mode: .fill))
    }

    @Test func `placeholders are those of the reduced image, also without variants`() async throws {
        var image = try CodecRegistry.standard.decode(photo())
        image.colorProfile = nil
        let reduced = try ImageProcessors.Resize(to: PixelSize(width: 100, height: 100)).process(image)
        let hash = try BlurHash(reduced).text

        let none = try await ImageConverter().convert(photo(), to: [])
        let some = try await ImageConverter().convert(photo(), to: [], placeholders: .blurHash)
        let all = try await ImageConverter().convert(
            ImageEncoder.png().encode(image), to: [Variant(.jpeg())],
            placeholders: [.blurHash, .thumbHash, .dominantColor])

        #expect(none.variants.isEmpty && none.blurHash == nil && none.dominantColor == nil)
        #expect(some.variants.isEmpty && some.thumbHash == nil)
        // The JPEG is decoded at another size. The first digit is the number of components.
        #expect(some.blurHash?.first == hash.first)
        #expect(some.blurHash?.utf8.count == hash.utf8.count)
        #expect(all.blurHash == hash)
        #expect(all.thumbHash == (try ThumbHash(reduced).bytes))
        #expect(all.dominantColor == (try reduced.dominantColor()))
    }

    @Test func `an animation stays one in the formats that hold it, and loses its frames in others`() async throws {
        let size = PixelSize(width: 40, height: 40)
        let levels: [UInt8] = [0, 100, 200]
        let frames = levels.map { (DecodedImage.gray(side: 40, level: $0).pixels, Duration.seconds(1)) }
        var image = DecodedImage.gray(side: 40, level: 0)
        image.frames = MadeFrames(size, frames)
        let source = try ImageEncoder.gif().encode(image)

        let images = try await ImageConverter().convert(
            source,
            to: [
                Variant(.resize(width: 20), .webp()), Variant(.jpeg()), Variant(.resize(width: 10), .gif()),
                Variant(.png()),
            ], placeholders: .dominantColor)

        #expect(images.variants.map(\.frameCount) == [3, 1, 3, 3])
        #expect(images.variants.map(\.size.width) == [20, 40, 10, 40])
        #expect(images.variants.map { $0.losses.contains(.animation) } == [false, true, false, false])
        #expect(try images.variants.map { try info($0).frameCount } == [3, 1, 3, 3])
        #expect(images.dominantColor == (try DecodedImage.gray(side: 4, level: 0).dominantColor()))
    }

    @Test func `losses tell what the file does not have`() async throws {
        var image = DecodedImage.coordinates(PixelSize(width: 16, height: 16))
        image.pixels = try #require(
            PixelBuffer(size: image.size, format: .rgba16, alphaMode: .straight) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: 0x7F)
            })
        let source = try PNGEncoder().embedding(exif: MadeEXIF.photo).encode(image)
        let variants = [Variant(.png()), Variant(.webp()), Variant(.jpeg()), Variant(.gif())]

        let stripped = try await ImageConverter().convert(source, to: variants).variants
        let kept = try await ImageConverter(metadata: .keep).convert(source, to: variants).variants

        #expect(stripped.map { $0.losses.contains(.exif) } == [true, true, true, true])
        #expect(kept.map { $0.losses.contains(.exif) } == [false, false, false, true])
        #expect(kept.map { $0.losses.contains(.depth) } == [false, true, true, true])
        #expect(kept.map { $0.losses.contains(.alpha) } == [false, false, true, true])
    }

    /// An encoder of another package, whose format has 8 bits a sample. Writes the depth of the rows.
    private struct ShallowEncoder: ImageEncoding {
        let format = ImageFormat(rawValue: "shallow")
        let holdsDeepSamples = false

        func encode(_ image: DecodedImage) -> Data { Data([image.pixels.format.isDeep ? 16 : 8]) }
    }

    @Test func `an encoder that holds no deep samples gets 8 bits a sample`() async throws {
        let source = try #require(
            PixelBuffer(size: PixelSize(width: 4, height: 4), format: .rgba16, alphaMode: .opaque) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: 0x12)
            })
        let file = try PNGEncoder().encode(DecodedImage(pixels: source))
        let encoders: [any ImageEncoding] = [ShallowEncoder(), ShallowEncoder().limitingFileSize(to: 1)]

        for encoder in encoders {
            #expect(try await ImageConverter().convert(file, to: encoder) == Data([8]))
        }
    }

    @Test func `an image of 16 bits is decoded once for each depth`() async throws {
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 4, height: 4), format: .rgba16, alphaMode: .opaque) { memory, _ in
                for offset in stride(from: 0, to: memory.count - 1, by: 2) {
                    memory.storeBytes(of: 0x1234, toByteOffset: offset, as: UInt16.self)
                }
            })
        let source = try PNGEncoder().encode(DecodedImage(pixels: pixels))
        let decoder = WatchedDecoder(PNGDecoder())
        let converter = ImageConverter(codecs: decoder.codecs(for: .png, signature: Self.pngSignature))

        let images = try await converter.convert(
            source, to: [Variant(.webp()), Variant(.png()), Variant(.jpeg())], placeholders: .blurHash)

        #expect(decoder.calls.value.opens == 1)
        #expect(decoder.calls.value.decodes.map(\.pixelFormat.isDeep) == [true, false])
        #expect(try images.variants.map { try info($0).bitDepth } == [8, 16, 8])
        #expect(images.variants.map(\.format) == [.webp, .png, .jpeg])
        #expect(images.blurHash != nil)
        let alone = try await ImageConverter().convert(source, to: .jpeg())
        #expect(images.variants[2].data == alone)
    }

    @Test func `the limit of encodes applies to the variants together`() async throws {
        let size = PixelSize(width: 400, height: 400)
        let source = try ImageEncoder.png().encode(.coordinates(size))
        let variant = Variant(.webp())
        let one = ImageEncoder.webp().makeRowEncoder { _ in }.byteCount(
            for: PixelRowHeader(size: size, format: .rgba8, alphaMode: .opaque))
        let converter = ImageConverter(maximumEncodingByteCount: one + one / 2)

        #expect(try await converter.convert(source, to: [variant]).variants.count == 1)
        let error = await #expect(throws: ImageEncodingError.self) {
            try await converter.convert(source, to: [variant, variant])
        }
        #expect(error?.code == .exceedsLimit)
    }

    @Test func `an error of one variant is the error of all`() async throws {
        let error = await #expect(throws: ImageProcessingError.self) {
            try await ImageConverter().convert(photo(), to: [Variant(.jpeg()), Variant(.resize(width: 0), .jpeg())])
        }
        #expect(error?.code == .invalidParameter)
    }

    @Test func `tolerated damage is part of the result`() async throws {
        let file = try JPEGEncoder().encode(.coordinates(PixelSize(width: 64, height: 96)))

        let images = try await ImageConverter(tolerance: .missingPixels).convert(
            file.prefix(file.count * 3 / 4), to: [Variant(.png()), Variant(.resize(width: 8), .png())])

        #expect(images.damage?.kind == .missingPixels)
        #expect(images.variants.map(\.size.width) == [64, 8])
    }
}
