import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Conversion from encoded bytes to encoded bytes.
@Suite(.timeLimit(.minutes(5)))
struct ImageConverterTests {
    private let box = PixelSize(width: 16, height: 16)

    /// 40 x 20 pixels as stored, 20 x 40 upright.
    private func turned(_ encoder: any ImageEncoding, exif: Data? = nil) throws -> Data {
        var image = DecodedImage.coordinates(PixelSize(width: 40, height: 20))
        image.orientation = .right
        return try (exif.map { encoder.embedding(exif: $0) } ?? encoder).encode(image)
    }

    private func animation() throws -> Data {
        let size = PixelSize(width: 40, height: 20)
        let pixels = (0..<3).map { DecodedImage.gray(side: 40, level: UInt8($0 * 100)).pixels }
        let cut = try pixels.map { try ImageProcessors.Crop(to: size).process(DecodedImage(pixels: $0)).pixels }
        let frames = MadeFrames(size, playCount: 2, cut.map { ($0, .milliseconds(200)) })
        return try GIFEncoder().encode(DecodedImage(pixels: cut[0], frames: frames))
    }

    /// An animation of different frames of which one cannot be decoded.
    private func animation(broken: Int) throws -> Data {
        let size = PixelSize(width: 40, height: 20)
        var random = SeededGenerator(seed: 8)
        let levels = try (0..<3).map { _ in
            try #require(
                PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                    for index in memory.indices {
                        memory[index] = index % 4 == 3 ? 255 : .random(in: 0...255, using: &random)
                    }
                })
        }
        let frames = MadeFrames(size, playCount: 2, levels.map { ($0, .milliseconds(200)) })
        var data = try ImageEncoder.webp(lossless: true).encode(DecodedImage(pixels: levels[0], frames: frames))
        var start = data.startIndex
        for _ in 0..<broken {
            start = try #require(data.range(of: Data("VP8L".utf8), in: start..<data.endIndex)).upperBound
        }
        let image = try #require(data.range(of: Data("VP8L".utf8), in: start..<data.endIndex)).upperBound
        let count = Int(data[image]) | Int(data[image + 1]) << 8
        // The codes after the header of the bitstream.
        for index in image + 9..<image + 4 + count { data[index] = 0xFF }
        return data
    }

    @Test(arguments: DamageTolerance.allCases, 1..<3)
    func `an animation is converted up to a damaged frame, which is reported`(
        tolerance: DamageTolerance, broken: Int
    ) async throws {
        let data = try animation(broken: broken)
        for encoder in [ImageEncoder.gif(), .webp(), .png()] {
            let found = Watched<[ImageDamage]>([])

            let result = try await ImageConverter(tolerance: tolerance).convert(data, to: encoder) { damage in
                found.update { $0.append(damage) }
            }

            #expect(found.value.map(\.kind) == [.harmless])
            #expect(found.value.first?.message.contains("ends before frame \(broken)") == true)
            let info = try CodecRegistry.standard.inspect(result)
            #expect(info.frameCount == broken)
            #expect(info.delays.count == (broken == 1 ? 0 : broken))
            let plays = try CodecRegistry.standard.decode(result).frames.map(\.playCount)
            #expect(plays == (broken == 1 ? nil : 2))
        }
        // A still result does not need the frame.
        let found = Watched<[ImageDamage]>([])
        _ = try await ImageConverter().convert(data, to: .jpeg()) { damage in found.update { $0.append(damage) } }
        #expect(found.value == [])
    }

    private func code(_ body: () throws -> Data) -> ImageDecodingError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? ImageDecodingError)?.code
        }
    }

    @Test func `damage up to the tolerance is converted and reported`() async throws {
        let whole = try JPEGEncoder().encode(.coordinates(PixelSize(width: 64, height: 96)))
        let files: [(DamageTolerance?, Data)] = [
            (nil, whole), (.harmless, whole.dropLast(2)),
            (.wrongPixels, whole.dropLast(2) + Data(repeating: 1, count: 20) + [0xFF, 0xD9]),
            (.missingPixels, whole.prefix(whole.count * 3 / 4)),
        ]
        for tolerance in DamageTolerance.allCases {
            for (kind, file) in files {
                let found = Watched<[DamageTolerance]>([])
                let converter = ImageConverter(tolerance: tolerance)
                let data = try? await converter.convert(file, to: .png()) { damage in
                    found.update { $0.append(damage.kind) }
                }
                let isAccepted = kind.map { $0 <= tolerance } ?? true
                #expect((data != nil) == isAccepted)
                #expect(found.value == (isAccepted ? [kind].compactMap { $0 } : []))
                let image = try data.map { try CodecRegistry.standard.decode($0) }
                #expect(image?.pixels.rgba(0, 95)[3] == (isAccepted ? kind == .missingPixels ? 0 : 255 : nil))
            }
        }
    }

    private static let targets: [any ImageEncoding] = [.webp(quality: 80), .jpeg(quality: 80), .png(), .gif()]

    @Test(arguments: targets.indices)
    func `an image is fitted, upright, and encoded in the encoder's format`(target: Int) throws {
        let encoder = Self.targets[target]
        let data = try ImageConverter().convert(turned(.jpeg()), to: encoder, fitting: box)

        let info = try CodecRegistry.standard.inspect(data)
        #expect(info.format == encoder.format)
        #expect(info.size == PixelSize(width: 8, height: 16))
        #expect(info.orientation == .up)
        #expect(info.metadata.exif == nil)
    }

    @Test(arguments: targets.indices)
    func `no side of a result exceeds its maximum, whatever the shape of the image`(target: Int) throws {
        for (width, height) in [(997, 3), (3, 997), (333, 332), (64, 65)] {
            let file = try ImageEncoder.png().encode(.coordinates(PixelSize(width: width, height: height)))
            for box in [PixelSize(width: 32, height: 32), PixelSize(width: 60, height: 2)] {
                let result = try ImageConverter().convert(file, to: Self.targets[target], fitting: box)
                let size = try CodecRegistry.standard.inspect(result).size
                #expect(size.width <= box.width)
                #expect(size.height <= box.height)
                #expect(size.width == box.width || size.height == box.height)
            }
        }
    }

    @Test func `without a size the pixels are unchanged`() throws {
        let data = try ImageConverter().convert(turned(.png()), to: .webp(lossless: true))

        let image = try CodecRegistry.standard.decode(data)
        var stored = DecodedImage.coordinates(PixelSize(width: 40, height: 20))
        stored.orientation = .right
        let upright = try ImageProcessors.Orient().process(stored)
        #expect(image.size == PixelSize(width: 20, height: 40))
        #expect(image.pixels.tightBytes == upright.pixels.tightBytes)
    }

    @Test func `a smaller image is not enlarged`() throws {
        let data = try ImageConverter().convert(turned(.png()), to: .png(), fitting: PixelSize(width: 400, height: 400))

        #expect(try CodecRegistry.standard.inspect(data).size == PixelSize(width: 20, height: 40))
    }

    @Test func `an orientation that is not applied is written, and the size is that of the upright image`() throws {
        let converter = ImageConverter(appliesOrientation: false)
        for encoder in Self.targets.dropLast() {
            let box = PixelSize(width: 10, height: 40)
            let info = try CodecRegistry.standard.inspect(
                try converter.convert(turned(.jpeg()), to: encoder, fitting: box))
            #expect(info.orientation == .right)
            #expect(info.uprightSize == PixelSize(width: 10, height: 20))
        }
    }

    @Test func `processors run after the image is fitted`() throws {
        let crop = ImageProcessors.Crop(to: PixelSize(width: 5, height: 6))
        let data = try ImageConverter(processors: [crop, ImageProcessors.Grayscale()]).convert(
            turned(.jpeg()), to: .png(), fitting: box)

        let image = try CodecRegistry.standard.decode(data)
        #expect(image.size == PixelSize(width: 5, height: 6))
        #expect(image.pixels.rgba(3, 3)[0] == image.pixels.rgba(3, 3)[1])
    }

    @Test func `sixteen bits are kept in a format that supports them`() throws {
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 4, height: 4), format: .rgba16, alphaMode: .opaque) { memory, _ in
                for offset in stride(from: 0, to: memory.count - 1, by: 2) {
                    memory.storeBytes(of: 0x1234, toByteOffset: offset, as: UInt16.self)
                }
            })
        let file = try PNGEncoder().encode(DecodedImage(pixels: pixels))

        let depths = try [.png(), .webp()].map { (encoder: any ImageEncoding) in
            try CodecRegistry.standard.inspect(ImageConverter().convert(file, to: encoder)).bitDepth
        }
        #expect(depths == [16, 8])
    }

    @Test func `an animation is kept in a format that supports it`() throws {
        let file = try animation()
        let infos = try [.webp(), .gif(), .png(), .jpeg()].map { (encoder: any ImageEncoding) in
            try CodecRegistry.standard.inspect(ImageConverter().convert(file, to: encoder, fitting: box))
        }

        #expect(infos.map(\.frameCount) == [3, 3, 3, 1])
        #expect(infos.map(\.size) == Array(repeating: PixelSize(width: 16, height: 8), count: 4))
        #expect(infos[0].delays == Array(repeating: .milliseconds(200), count: 3))
        #expect(infos[0].loopCount == 2)
        #expect(infos[2].delays == infos[0].delays)
        #expect(infos[2].loopCount == 2)
    }

    @Test func `an image beyond the limits is refused`() throws {
        let file = try turned(.jpeg())
        let limits = DecodingLimits(maximumPixelCount: 799)
        #expect(code { try ImageConverter(limits: limits).convert(file, to: .png()) } == .exceedsLimit)
        #expect(code { try ImageConverter(limits: limits).convert(file, to: .png(), fitting: box) } == .exceedsLimit)
        let enough = DecodingLimits(maximumPixelCount: 800)
        #expect(code { try ImageConverter(limits: enough).convert(file, to: .png()) } == nil)

        let frames = DecodingLimits(maximumFrameCount: 2)
        let moving = try animation()
        #expect(code { try ImageConverter(limits: frames).convert(moving, to: .gif()) } == .exceedsLimit)
    }

    @Test func `an encode beyond its limit is refused, except one of a few rows whose output is small`() throws {
        let size = PixelSize(width: 1200, height: 1200)
        let flat = DecodedImage(pixels: try #require(PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque)))
        let large = try ImageEncoder.png().encode(flat)
        let converter = ImageConverter(maximumEncodingByteCount: 4 << 20)
        #expect(try CodecRegistry.standard.inspect(converter.convert(large, to: .png())).size == size)
        #expect(try CodecRegistry.standard.inspect(converter.convert(large, to: .jpeg())).size == size)
        for encoder in [ImageEncoder.webp(), .jpeg(isProgressive: true)] {
            let error = #expect(throws: ImageEncodingError.self) { try converter.convert(large, to: encoder) }
            #expect(error?.code == .exceedsLimit)
        }

        // The rows are not kept, but the encoded bytes are.
        let coordinates = try ImageEncoder.png().encode(.coordinates(size))
        let whole = try ImageConverter().convert(coordinates, to: .png(compressionLevel: 0))
        let small = ImageConverter(maximumEncodingByteCount: whole.count - 1)
        let error = #expect(throws: ImageEncodingError.self) {
            try small.convert(coordinates, to: .png(compressionLevel: 0))
        }
        #expect(whole.count > 4 << 20)
        #expect(error?.code == .exceedsLimit)
    }

    @Test func `the frames of an animation count for the limit of encodes`() throws {
        let size = PixelSize(width: 16, height: 16)
        let pixels = try (0..<3).map { level in
            try #require(
                PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                    memory.initializeMemory(as: UInt8.self, repeating: UInt8(50 * level))
                })
        }
        var image = DecodedImage(pixels: pixels[0])
        image.frames = MadeFrames(size, pixels.map { ($0, .milliseconds(100)) })
        let data = try ImageEncoder.gif().encode(image)
        let limit = ImageEncoder.webp().encodingByteCount(of: size, format: .rgba8, frameCount: 3)
        #expect(limit >= ImageEncoder.webp().encodingByteCount(of: size, format: .rgba8) + (8 + 2) * 4 * 16 * 16)

        let converted = try ImageConverter(maximumEncodingByteCount: limit).convert(data, to: .webp())
        #expect(try CodecRegistry.standard.inspect(converted).frameCount == 3)
        let error = #expect(throws: ImageEncodingError.self) {
            try ImageConverter(maximumEncodingByteCount: limit - 1).convert(data, to: .webp())
        }
        #expect(error?.code == .exceedsLimit)
    }

    @Test func `an animation whose encoded bytes exceed the limit is refused, whatever its encoder expected`() throws {
        let file = try animation()
        let bytes = try ImageConverter().convert(file, to: ImageEncoder.gif())
        #expect(try ImageConverter(maximumEncodingByteCount: bytes.count).convert(file, to: SmallEncoder()) == bytes)

        let error = #expect(throws: ImageEncodingError.self) {
            try ImageConverter(maximumEncodingByteCount: bytes.count - 1).convert(file, to: SmallEncoder())
        }
        #expect(error?.code == .exceedsLimit)
        #expect(error.map { "\($0)".contains("(ImageConverter.maximumEncodingByteCount)") } == true)
    }

    /// An encoder of animated GIF that expects to need no memory.
    private struct SmallEncoder: ImageEncoding {
        var format: ImageFormat { .gif }
        func canEncode(_ image: DecodedImage) -> Bool { true }
        func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data { try ImageEncoder.gif().encode(image) }
        func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int { 0 }
        func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int { 0 }
    }

    @Test(arguments: [ImageEncoder.jpeg(quality: 95), .jpeg(quality: 95, embedsThumbnail: true), .webp(quality: 95)])
    func `a limit of bytes lowers the quality, for still images and animations`(encoder: ImageEncoder) throws {
        let photo = try SampleImages.data("dunes.jpg")
        let size = PixelSize(width: 300, height: 300)
        let whole = try ImageConverter().convert(photo, to: encoder, fitting: size)
        let smallest = try ImageConverter().convert(
            photo, to: #require(encoder.limitingQuality(to: 0)), fitting: size)
        #expect(smallest.count < whole.count / 3)

        for limit in [whole.count, whole.count - 1, (whole.count + smallest.count) / 2, smallest.count] {
            let result = try ImageConverter().convert(
                photo, to: encoder.limitingFileSize(to: limit), fitting: size)
            #expect(result.count <= limit)
            #expect(result.count > limit / 2)
            #expect(limit < whole.count || result == whole)
            #expect(try CodecRegistry.standard.inspect(result).size == PixelSize(width: 300, height: 200))
        }
        let error = #expect(throws: ImageEncodingError.self) {
            try ImageConverter().convert(photo, to: encoder.limitingFileSize(to: smallest.count - 1), fitting: size)
        }
        #expect(error?.code == .exceedsFileSize)
    }

    @Test func `a limit of bytes applies to animations, and to files without quality`() throws {
        let file = try animation()
        for encoder in [ImageEncoder.webp(quality: 90), .gif(), .webp(lossless: true)] {
            let whole = try ImageConverter().convert(file, to: encoder)
            #expect(try ImageConverter().convert(file, to: encoder.limitingFileSize(to: whole.count)) == whole)
            let error = #expect(throws: ImageEncodingError.self) {
                try ImageConverter().convert(file, to: encoder.limitingFileSize(to: 60))
            }
            #expect(error?.code == .exceedsFileSize)
        }
        #expect(ImageEncoder.gif().limitingQuality(to: 0.5) == nil)
        #expect(ImageEncoder.png().limitingQuality(to: 0.5) == nil)
        #expect(ImageEncoder.webp(lossless: true).limitingQuality(to: 0.5) == nil)
    }

    @Test func `a limit of bytes is no limit of memory, and the encoder of whole images counts as one`() throws {
        let photo = try SampleImages.data("dunes.jpg")
        let encoder = ImageEncoder.jpeg().limitingFileSize(to: 100_000)
        let size = PixelSize(width: 1200, height: 800)
        let needed = encoder.encodingByteCount(of: size, format: .rgba8)
        #expect(needed == ImageEncoder.jpeg().encodingByteCount(of: size, format: .rgba8) + 100_000)
        let error = #expect(throws: ImageEncodingError.self) {
            try ImageConverter(maximumEncodingByteCount: needed).convert(photo, to: encoder)
        }
        #expect(error?.code == .exceedsLimit)
        #expect(
            try ImageConverter(maximumEncodingByteCount: needed + size.pixelCount * 4 + 200_000)
                .convert(photo, to: encoder).count <= 100_000)
    }

    @Test func `hundreds of frames fit into the default budget of a pipeline`() {
        let size = PixelSize(width: 640, height: 480)
        let encoders: [(ImageEncoder, Int)] = [(.gif(), 400), (.webp(), 400), (.webp(lossless: true), 270)]
        for (encoder, count) in encoders {
            #expect(encoder.encodingByteCount(of: size, format: .rgba8, frameCount: count) <= 512 << 20)
        }
    }

    @Test func `invalid data is an error`() {
        #expect(code { try ImageConverter().convert(Data(), to: .png()) } == .empty)
        #expect(code { try ImageConverter().convert(Data("<html>".utf8), to: .png()) } == .unknownFormat)
        #expect(code { try ImageConverter().convert(Data([0xFF, 0xD8, 0xFF, 0xE0]), to: .png()) } == .truncated)
    }

    @Test(arguments: targets.indices)
    func `a truncated image is an error, unless only its end is missing, which is reported`(source: Int) throws {
        let file = try turned(Self.targets[source])
        let whole = try ImageConverter().convert(file, to: .png(), fitting: box)
        for count in stride(from: 1, to: file.count - 2, by: 7) {
            var damage: [ImageDamage] = []
            let image = try? ImageConverter().convert(file.prefix(count), to: .png(), fitting: box) {
                damage.append($0)
            }
            guard image != nil else { continue }
            #expect(damage.map(\.kind) == [.harmless], "\(count) bytes")
            // WebP stores the orientation behind the pixels.
            #expect(image == whole || source == 0, "\(count) bytes")
        }
    }

    @Test func `an empty size is an error`() throws {
        let file = try turned(.jpeg())
        #expect(throws: ImageProcessingError.self) {
            try ImageConverter().convert(file, to: .png(), fitting: PixelSize(width: 0, height: 10))
        }
    }

    @Test func `the async method returns the same bytes`() async throws {
        let file = try turned(.jpeg())
        let blocking = try { try ImageConverter().convert(file, to: .webp(), fitting: box) }()

        #expect(try await ImageConverter().convert(file, to: .webp(), fitting: box) == blocking)
        await #expect(throws: ImageDecodingError.self) {
            try await ImageConverter().convert(Data("garbage".utf8), to: .webp())
        }
    }

    // MARK: Metadata

    /// A separate function, because the compiler of Swift 6.2 crashes on a span in a loop with `#expect`.
    private func orientation(in exif: Data) -> ImageOrientation { ImageOrientation(exif: exif.bytes) }

    private func exif(of file: Data) throws -> Data? { try CodecRegistry.standard.inspect(file).metadata.exif }

    @Test(arguments: 0..<3)
    func `EXIF is omitted by default`(target: Int) throws {
        for source in Self.targets.dropLast() {
            let file = try turned(source, exif: MadeEXIF.photo)
            #expect(try exif(of: file) != nil)
            #expect(try exif(of: ImageConverter().convert(file, to: Self.targets[target])) == nil)
        }
    }

    @Test(arguments: 0..<3)
    func `EXIF is kept with the orientation and the size of the result`(target: Int) throws {
        for source in Self.targets.dropLast() {
            let file = try turned(source, exif: MadeEXIF.photo)
            let kept = try #require(
                try exif(of: ImageConverter(metadata: .keep).convert(file, to: Self.targets[target], fitting: box)))
            let small = PixelSize(width: 8, height: 16)
            #expect(kept == MadeEXIF.made(orientation: 1, size: small, hasPreview: false))

            let stored = try ImageConverter(appliesOrientation: false, metadata: .keep)
                .convert(file, to: Self.targets[target])
            let size = PixelSize(width: 40, height: 20)
            #expect(try exif(of: stored) == MadeEXIF.made(orientation: 6, size: size, hasPreview: false))
        }
    }

    @Test(arguments: 0..<3)
    func `EXIF is kept without its location`(target: Int) throws {
        let converter = ImageConverter(metadata: .keepWithoutLocation)
        for source in Self.targets.dropLast() {
            let file = try turned(source, exif: MadeEXIF.photo)
            let data = try converter.convert(file, to: Self.targets[target])
            let kept = try #require(try exif(of: data))
            #expect(kept.range(of: MadeEXIF.maker) != nil)
            #expect(kept.range(of: MadeEXIF.date) != nil)
            for secret in MadeEXIF.secrets { #expect(data.range(of: secret) == nil) }
            #expect(orientation(in: kept) == .up)
        }
    }

    @Test func `EXIF without its location is well formed`() throws {
        let file = try turned(.png(), exif: MadeEXIF.photo)
        let kept = try #require(
            try exif(of: ImageConverter(metadata: .keepWithoutLocation).convert(file, to: .png())))
        let tags = MadeEXIF.tags(of: kept, at: 8)
        let photo = try #require(tags.first { $0.tag == 0x8769 })

        #expect(tags.map(\.tag) == [0x010F, 0x0112, 0x013B, 0x8298, 0x8769])
        #expect(MadeEXIF.tags(of: kept, at: photo.value).map(\.tag) == [0x9003, 0xA001])
        // Nothing remains to be written a second time.
        let copy = try turned(.png(), exif: kept)
        let again = try ImageConverter(metadata: .keepWithoutLocation).convert(copy, to: .png())
        #expect(try exif(of: again) == kept)
    }

    @Test func `damaged EXIF is omitted where it must be parsed`() throws {
        for damaged in [Data("II*\0".utf8), Data("MM\0*".utf8) + Data([0xFF, 0xFF, 0xFF, 0xFF]), Data("garbage".utf8)] {
            var image = DecodedImage.coordinates(box)
            image.orientation = .up
            let file = try PNGEncoder().embedding(exif: damaged).encode(image)
            let data = try ImageConverter(metadata: .keepWithoutLocation).convert(file, to: .jpeg())
            #expect(try exif(of: data) == nil)
        }
        for count in 0..<MadeEXIF.photo.count {
            let file = try turned(.png(), exif: MadeEXIF.photo.prefix(count))
            let data = try ImageConverter(metadata: .keepWithoutLocation).convert(file, to: .png())
            #expect(data.range(of: MadeEXIF.latitude) == nil)
        }
    }

    @Test func `overlapping values do not make EXIF larger`() throws {
        // Each tag has all bytes as its value.
        let tags = [0x010E, 0x010F, 0x0110, 0x0131, 0x013B]
        var bytes = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, UInt8(tags.count)]
        for tag in tags { bytes += [UInt8(tag >> 8), UInt8(tag & 255), 0, 2, 0, 0, 0, 60, 0, 0, 0, 8] }
        bytes += [0, 0, 0, 0]
        let file = try PNGEncoder().embedding(exif: Data(bytes)).encode(.coordinates(box))

        #expect(try exif(of: ImageConverter(metadata: .keepWithoutLocation).convert(file, to: .png())) == nil)
        #expect(try exif(of: ImageConverter(metadata: .keep).convert(file, to: .png())) == Data(bytes))
    }

    @Test func `a resize whose filter exceeds the rest of the byte limit is an error`() throws {
        let wide = PixelSize(width: 900_000, height: 2)
        let pixels = try #require(PixelBuffer(size: wide, format: .rgba8, alphaMode: .opaque))
        let file = try PNGEncoder().encode(DecodedImage(pixels: pixels))
        var options = DecodingOptions(target: TargetSize(box))
        options.isFiltered = true
        let decoding = try CodecRegistry.standard.open(file).decodingByteCount(options)
        // The filter of the resize needs more than 32 bytes for each column.
        func convert(limit: Int) throws -> Data {
            let limits = DecodingLimits(maximumByteCount: limit)
            return try ImageConverter(limits: limits).convert(file, to: .png(), fitting: box)
        }

        let error = #expect(throws: ImageDecodingError.self) { try convert(limit: decoding + 32 * wide.width) }

        #expect(error?.code == .exceedsLimit)
        let result = try convert(limit: decoding + 64 * wide.width)
        #expect(try CodecRegistry.standard.decode(result).size == PixelSize(width: 16, height: 1))
    }

    @Test func `colors become sRGB, or those of the requested color space with its profile`() throws {
        let profile = OutputColorSpace.displayP3.colorProfile
        var wide = DecodedImage.coordinates(PixelSize(width: 256, height: 4))
        wide.colorProfile = profile
        let file = try ImageEncoder.png().encode(wide)
        func converted(_ space: OutputColorSpace) throws -> DecodedImage {
            try CodecRegistry.standard.decode(ImageConverter(colorSpace: space).convert(file, to: .png()))
        }

        let (sRGB, kept, same) = (try converted(.sRGB), try converted(.embedded), try converted(.displayP3))

        #expect(sRGB.colorProfile == nil)
        #expect(try sRGB.pixels == LittleCMSColorConverter().converted(wide).pixels)
        #expect(sRGB.pixels != wide.pixels)
        #expect(kept.pixels == wide.pixels)
        #expect(kept.colorProfile == profile)
        #expect(same.pixels == wide.pixels)
        #expect(same.colorProfile == profile)
    }

    @Test func `EXIF too large for a JPEG is omitted, and the color profile is kept`() throws {
        let large = MadeEXIF.photo + Data(repeating: 0, count: 65_528 - MadeEXIF.photo.count)
        let file = try PNGEncoder().embedding(exif: large).encode(.coordinates(box))
        let converter = ImageConverter(metadata: .keep)

        #expect(try exif(of: converter.convert(file, to: .jpeg())) == nil)
        #expect(try exif(of: converter.convert(file, to: .webp()))?.count == large.count)
        let fitting = try PNGEncoder().embedding(exif: large.dropLast()).encode(.coordinates(box))
        #expect(try exif(of: converter.convert(fitting, to: .jpeg()))?.count == 65_527)
    }
}
