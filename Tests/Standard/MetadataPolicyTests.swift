import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif
import AlcedoProgramSupport
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// The metadata of converted photos that have their location in each place where cameras and programs store it.
@Suite(.timeLimit(.minutes(5)))
struct MetadataPolicyTests {
    /// Every encoder of the package. GIF, which holds no EXIF, is the last one.
    private static let encoders: [ImageEncoder] = {
        var encoders: [ImageEncoder] = [.webp(), .jpeg(), .png()]
        #if AVIF
            encoders.append(.avif())
        #endif
        #if JXL
            encoders.append(.jxl(effort: 3))
        #endif
        encoders.append(.gif())
        return encoders
    }()

    private static let codecs = CodecRegistry.programs

    /// JPEG and PNG with big-endian EXIF, and JPEG with little-endian EXIF.
    private let photos: [Data]

    init() throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let (jpeg, png) = (try ImageEncoder.jpeg().encode(image), try ImageEncoder.png().encode(image))
        photos = [
            MadePhoto.jpeg(jpeg, exif: MadeEXIF.photo), MadePhoto.png(png, exif: MadeEXIF.photo),
            MadePhoto.jpeg(jpeg, exif: MadeEXIF.made(orientation: 6, isLittleEndian: true)),
        ]
    }

    private func exif(of file: Data) throws -> Data? { try Self.codecs.inspect(file).metadata.exif }

    @Test func `the photos have their location in each place`() throws {
        for photo in photos {
            let info = try Self.codecs.inspect(photo)
            #expect(info.metadata.xmp == MadePhoto.xmp)
            #expect(info.orientation == .right)
            for secret in [MadeEXIF.makerNote, MadeEXIF.comment, MadeEXIF.preview] {
                #expect(info.metadata.exif?.range(of: secret) != nil)
            }
            // IPTC is written in hexadecimal digits in PNG, and in bytes in JPEG.
            #expect(MadePhoto.secrets.count { photo.range(of: $0) != nil } >= 3)
        }
        for secret in MadeEXIF.secrets { #expect(photos.contains { $0.range(of: secret) != nil }) }
        for secret in MadePhoto.secrets { #expect(photos.contains { $0.range(of: secret) != nil }) }
    }

    @Test(arguments: encoders.indices, [MetadataPolicy.strip, .keepCopyright, .keepWithoutLocation])
    func `no location remains in any format`(encoder: Int, policy: MetadataPolicy) throws {
        for photo in photos {
            let converter = ImageConverter(codecs: Self.codecs, metadata: policy)
            let result = try converter.convert(photo, to: Self.encoders[encoder])
            for secret in MadeEXIF.secrets + MadePhoto.secrets { #expect(result.range(of: secret) == nil) }
            let metadata = try Self.codecs.inspect(result).metadata
            #expect(metadata.xmp == nil)
            #expect(metadata.iptc == nil)
            if policy == .strip { #expect(metadata.exif == nil) }
        }
    }

    @Test(arguments: encoders.indices)
    func `comments and the preview image are removed even if all other metadata is kept`(encoder: Int) throws {
        for photo in photos {
            let converter = ImageConverter(codecs: Self.codecs, metadata: .keep)
            let result = try converter.convert(photo, to: Self.encoders[encoder])
            for secret in [MadeEXIF.preview, MadePhoto.comment] { #expect(result.range(of: secret) == nil) }
            let metadata = try Self.codecs.inspect(result).metadata
            #expect(metadata.xmp?.range(of: Data("exif:GPSLatitude=\"47,11.22N\"".utf8)) != nil)
            let holdsIPTC = [.jpeg, .png].contains(Self.encoders[encoder].format)
            #expect(metadata.iptc == (holdsIPTC ? MadePhoto.iptc : nil))
        }
    }

    /// XMP and IPTC with rights and a location, as attributes and as elements.
    private static let rights = ImageMetadata(
        xmp: Data(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
            xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
            photoshop:Credit="Agency A" photoshop:City="Zurich" xmpRights:WebStatement="https://a.example/terms">
            <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">All rights: Ada</rdf:li></rdf:Alt></dc:rights>
            <photoshop:State>Canton</photoshop:State></rdf:Description></rdf:RDF></x:xmpmeta>
            """.utf8),
        iptc: Data([0x1C, 2, 80, 0, 3]) + Data("Ada".utf8) + Data([0x1C, 2, 90, 0, 6]) + Data("Zurich".utf8)
            + Data([0x1C, 2, 116, 0, 4]) + Data("(c)A".utf8))

    @Test(arguments: encoders.indices, [MetadataPolicy.strip, .keepCopyright, .keepWithoutLocation, .keep])
    func `rights in XMP and IPTC remain unless all metadata is removed`(encoder: Int, policy: MetadataPolicy) throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        for source in [ImageEncoder.jpeg(), .png()] {
            let file = try source.embedding(Self.rights).encode(image)
            #expect(try Self.codecs.inspect(file).metadata == Self.rights)
            let converter = ImageConverter(codecs: Self.codecs, metadata: policy)

            let result = try Self.codecs.inspect(converter.convert(file, to: Self.encoders[encoder]))

            let xmp = result.metadata.xmp.map { String(decoding: $0, as: UTF8.self) } ?? ""
            for part in ["Agency A", "https://a.example/terms", "All rights: Ada"] {
                #expect(xmp.contains(part) == (policy != .strip))
            }
            for part in ["Zurich", "Canton"] { #expect(xmp.contains(part) == (policy == .keep)) }
            guard [.jpeg, .png].contains(result.format), policy != .strip else {
                #expect(result.metadata.iptc == nil)
                continue
            }
            let iptc = try #require(result.metadata.iptc)
            #expect(iptc.range(of: Data("Ada".utf8)) != nil)
            #expect(iptc.range(of: Data("(c)A".utf8)) != nil)
            #expect((iptc.range(of: Data("Zurich".utf8)) != nil) == (policy == .keep))
        }
    }

    @Test(arguments: encoders.dropLast().indices, [MetadataPolicy.strip, .keepCopyright, .keepWithoutLocation, .keep])
    func `texts of PNG with rights remain unless all metadata is removed`(encoder: Int, policy: MetadataPolicy) throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let texts = [
            "Author": "Ada", "Copyright": "\u{A9} Ada", "Title": "A title", "Comment": "private", "Place": "Zurich",
        ]
        let file = try ImageEncoder.png().embedding(ImageMetadata(texts: texts)).encode(image)
        #expect(try Self.codecs.inspect(file).metadata.texts == texts)
        let encoder = Self.encoders[encoder]
        let converter = ImageConverter(codecs: Self.codecs, metadata: policy)

        let result = try converter.convert(file, to: encoder)

        let metadata = try Self.codecs.inspect(result).metadata
        for (keyword, text) in texts.filter({ ["Author", "Copyright"].contains($0.key) }) {
            #expect(metadata.holds(text, of: keyword) == (policy != .strip))
        }
        let others = metadata.texts.keys.filter { !["Author", "Copyright"].contains($0) }.sorted()
        let kept: [MetadataPolicy: [String]] = [.keepWithoutLocation: ["Title"], .keep: ["Place", "Title"]]
        #expect(others == (encoder.format == .png ? kept[policy] ?? [] : []))
        // The metadata of the file takes precedence.
        let exif = try encoder.embedding(ImageMetadata(exif: MadeEXIF.photo, texts: texts)).encode(image)
        #expect(try Self.codecs.inspect(exif).metadata.exif?.range(of: MadeEXIF.artist) != nil)
    }

    @Test(arguments: encoders.dropLast().indices)
    func `the resolution is kept with all metadata, turned with the pixels, and can be set`(encoder: Int) throws {
        var image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        image.orientation = .right
        let resolution = ImageResolution(horizontal: 300, vertical: 150)
        for source in Self.encoders.dropLast() {
            let file = try source.embedding(ImageMetadata(resolution: resolution)).encode(image)
            func written(_ converter: ImageConverter) throws -> ImageResolution? {
                try Self.codecs.inspect(converter.convert(file, to: Self.encoders[encoder])).metadata.resolution
            }

            let upright = try written(ImageConverter(codecs: Self.codecs, metadata: .keep))
            #expect(upright?.keeps(resolution.transposed) == true)
            let stored = try written(
                ImageConverter(codecs: Self.codecs, appliesOrientation: false, metadata: .keep))
            #expect(stored?.keeps(resolution) == true)
            #expect(try written(ImageConverter(codecs: Self.codecs)) == nil)
            let set = ImageResolution(pixelsPerInch: 72)
            #expect(try written(ImageConverter(codecs: Self.codecs, resolution: set))?.keeps(set) == true)
        }
    }

    @Test(arguments: encoders.dropLast().indices)
    func `the resolution in EXIF is that of the header and of the result`(encoder: Int) throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let exif = ImageMetadata(resolution: ImageResolution(pixelsPerInch: 72))
            .writtenEXIF(.up, image.size, holdsResolution: false)
        let both = ImageMetadata(exif: Data(exif), resolution: ImageResolution(pixelsPerInch: 300))
        let file = try ImageEncoder.png().embedding(both).encode(image)

        let result = try ImageConverter(codecs: Self.codecs, metadata: .keep).convert(file, to: Self.encoders[encoder])

        let metadata = try Self.codecs.inspect(result).metadata
        #expect(metadata.resolution?.keeps(ImageResolution(pixelsPerInch: 300)) == true)
        let only = ImageInfo(
            format: .webp, size: image.size, metadata: ImageMetadata(exif: metadata.exif))
        #expect(only.metadata.resolution?.keeps(ImageResolution(pixelsPerInch: 300)) == true)
    }

    @Test(arguments: encoders.dropLast().indices)
    func `kept EXIF has the size and the orientation of the result, and no preview image`(encoder: Int) throws {
        for (photo, isLittleEndian) in zip(photos, [false, false, true]) {
            let converter = ImageConverter(codecs: Self.codecs, metadata: .keep)
            let result = try converter.convert(
                photo, to: Self.encoders[encoder], fitting: PixelSize(width: 8, height: 8))
            let size = PixelSize(width: 4, height: 8)
            let expected = MadeEXIF.made(
                orientation: 1, size: size, isLittleEndian: isLittleEndian, hasPreview: false)
            #expect(try Self.codecs.inspect(result).size == size)
            #expect(try exif(of: result) == expected)
        }
    }

    @Test(arguments: encoders.dropLast().indices)
    func `only artist, copyright and color space remain on request`(encoder: Int) throws {
        let converter = ImageConverter(codecs: Self.codecs, metadata: .keepCopyright)
        let kept = try #require(try exif(of: converter.convert(photos[0], to: Self.encoders[encoder])))
        let tags = MadeEXIF.tags(of: kept, at: 8)
        let directory = try #require(tags.first { $0.tag == 0x8769 })
        #expect(tags.map(\.tag) == [0x013B, 0x8298, 0x8769])
        #expect(MadeEXIF.tags(of: kept, at: directory.value).map(\.tag) == [0xA001])
        #expect(kept.range(of: MadeEXIF.artist) != nil)
        #expect(kept.range(of: MadeEXIF.copyright) != nil)
    }

    @Test(arguments: encoders.dropLast().indices)
    func `gray with 16 bits stays gray, with more than 8 bits where the format has them`(encoder: Int) throws {
        let size = PixelSize(width: 64, height: 32)
        let pixels = try #require(
            PixelBuffer(size: size, format: .gray16, alphaMode: .opaque) { memory, bytesPerRow in
                for y in 0..<32 {
                    for x in 0..<64 {
                        memory.storeBytes(
                            of: UInt16(1000 * x + 10 * y), toByteOffset: y * bytesPerRow + 2 * x, as: UInt16.self)
                    }
                }
            })
        let file = try ImageEncoder.png().encode(DecodedImage(pixels: pixels))
        let encoder = Self.encoders[encoder]
        for box in [nil, PixelSize(width: 16, height: 16)] {
            let result = try ImageConverter(codecs: Self.codecs).convert(file, to: encoder, fitting: box)
            let info = try Self.codecs.inspect(result)
            // WebP has no gray.
            #expect(info.colorModel == .gray || encoder.format == .webp)
            #expect(info.bitDepth > 8 || [.jpeg, .webp].contains(encoder.format))
            let decoded = try Self.codecs.decode(result, options: DecodingOptions(pixelFormat: .gray16)).pixels
            let expected = [.jpeg: .gray8, .webp: PixelFormat.rgba8][encoder.format] ?? .gray16
            #expect(decoded.format == expected)
        }
        let exact = try ImageConverter().convert(file, to: .png())
        #expect(try Self.codecs.decode(exact, options: DecodingOptions(pixelFormat: .gray16)).pixels == pixels)
    }

    @Test(arguments: [PixelFormat.rgba8, .rgba16])
    func `gray with alpha stays gray with alpha, also after processors`(format: PixelFormat) throws {
        let (size, width) = (PixelSize(width: 64, height: 32), format.bytesPerPixel / 4)
        let pixels = try #require(
            PixelBuffer(size: size, format: format, alphaMode: .straight) { memory, bytesPerRow in
                for offset in stride(from: 0, to: 32 * bytesPerRow, by: width) {
                    let (x, y) = (offset % bytesPerRow / (4 * width), offset / bytesPerRow)
                    let isAlpha = offset / width % 4 == 3
                    let value = UInt16(isAlpha ? 65_535 - 700 * x : 900 * x + 20 * y)
                    if width == 2 {
                        memory.storeBytes(of: value, toByteOffset: offset, as: UInt16.self)
                    } else {
                        memory[offset] = UInt8(value >> 8)
                    }
                }
            })
        let file = try ImageEncoder.png(usesPaletteWhenLossless: false).encode(DecodedImage(pixels: pixels))
        try #require(try Self.codecs.inspect(file).colorModel == .grayAlpha)
        let blur: [any ImageProcessing] = [ImageProcessors.GaussianBlur(sigma: 1)]
        for encoder in Self.encoders where ![.jpeg, .webp, .gif].contains(encoder.format) {
            for (box, processors) in [(nil, []), (PixelSize(width: 16, height: 16), []), (nil, blur)] {
                let converter = ImageConverter(codecs: Self.codecs, processors: processors)
                let info = try Self.codecs.inspect(converter.convert(file, to: encoder, fitting: box))
                #expect(info.colorModel == .grayAlpha, "\(encoder.format)")
                #expect((info.bitDepth > 8) == format.isDeep, "\(encoder.format)")
            }
        }
        // A processor that adds a color is not undone.
        let tint = ImageConverter(processors: [ImageProcessors.Tint(.init(red: 255, green: 0, blue: 0))])
        #expect(try Self.codecs.inspect(tint.convert(file, to: .png())).colorModel == .rgba)
    }

    @Test(arguments: [PixelFormat.gray8, .gray16])
    func `gray with a transparent level becomes gray with alpha, also after processors`(format: PixelFormat) throws {
        let size = PixelSize(width: 64, height: 32)
        let pixels = try #require(
            PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, bytesPerRow in
                for (y, x) in (0..<32).flatMap({ y in (0..<64).map { (y, $0) } }) {
                    if format.isDeep {
                        memory.storeBytes(of: UInt16(1000 * x), toByteOffset: y * bytesPerRow + 2 * x, as: UInt16.self)
                    } else {
                        memory[y * bytesPerRow + x] = UInt8(4 * x)
                    }
                }
            })
        // The level of column 10.
        let file = MadePhoto.png(
            try ImageEncoder.png().encode(DecodedImage(pixels: pixels)),
            adding: [("tRNS", Data(format.isDeep ? [0x27, 0x10] : [0, 40]))])
        let original = try Self.codecs.inspect(file)
        try #require(original.colorModel == .gray)
        try #require(original.hasAlpha)
        let blur: [any ImageProcessing] = [ImageProcessors.GaussianBlur(sigma: 1)]
        for encoder in Self.encoders where ![.jpeg, .webp, .gif].contains(encoder.format) {
            for (box, processors) in [(nil, []), (PixelSize(width: 16, height: 16), []), (nil, blur)] {
                let converter = ImageConverter(codecs: Self.codecs, processors: processors)
                let info = try Self.codecs.inspect(converter.convert(file, to: encoder, fitting: box))
                #expect(info.colorModel == .grayAlpha, "\(encoder.format)")
                #expect((info.bitDepth > 8) == format.isDeep, "\(encoder.format)")
            }
        }
        let options = DecodingOptions(alphaMode: .premultiplied, pixelFormat: format.isDeep ? .rgba16 : .rgba8)
        let exact = try Self.codecs.decode(ImageConverter().convert(file, to: .png()), options: options).pixels
        #expect(try exact == Self.codecs.decode(file, options: options).pixels)
        let alphas = (9...10).map { exact.tightBytes[($0 + 1) * exact.format.bytesPerPixel - 1] }
        #expect(alphas == [255, 0])
    }

    @Test func `a palette stays a palette unless the pixels change`() throws {
        var image = DecodedImage.coordinates(PixelSize(width: 3, height: 3))
        image.storedModel = .palette
        let file = try ImageEncoder.png().encode(image)
        #expect(try Self.codecs.inspect(file).colorModel == .palette)

        let kept = try ImageConverter().convert(file, to: .png())
        let smaller = try ImageConverter().convert(file, to: .png(), fitting: PixelSize(width: 2, height: 2))

        #expect(try Self.codecs.inspect(kept).colorModel == .palette)
        #expect(try Self.codecs.decode(kept).pixels == image.pixels)
        #expect(try Self.codecs.inspect(smaller).colorModel == .rgb)
    }

    @Test func `EXIF without artist, copyright and color space is removed`() throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let file = try ImageEncoder.png().embedding(exif: Data(ImageOrientation.right.exif)).encode(image)
        #expect(try exif(of: ImageConverter(metadata: .keepCopyright).convert(file, to: .png())) == nil)
    }
}
