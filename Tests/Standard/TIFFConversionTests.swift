#if TIFF
    import Alcedo
    import AlcedoProgramSupport
    import AlcedoTIFF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    /// The metadata and the luminance of images that are converted to TIFF.
    @Suite(.timeLimit(.minutes(5)))
    struct TIFFConversionTests {
        private static let codecs = CodecRegistry.programs

        private func photo(isLittleEndian: Bool) throws -> Data {
            let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
            return MadePhoto.jpeg(
                try ImageEncoder.jpeg().encode(image),
                exif: MadeEXIF.made(orientation: 6, isLittleEndian: isLittleEndian))
        }

        @Test(arguments: [false, true])
        func `a photo keeps all properties on request, and no loss is reported`(isLittleEndian: Bool) throws {
            let source = try photo(isLittleEndian: isLittleEndian)
            let before = try Self.codecs.inspect(source)

            let converter = ImageConverter(codecs: Self.codecs, metadata: .keep)
            let file: Data = try converter.convert(source, to: .tiff())

            let after = try Self.codecs.inspect(file)
            var properties = PhotoProperties(before.metadata)
            #expect(properties.orientation == .right)
            properties.orientation = .up
            #expect(PhotoProperties(after.metadata) == properties)
            #expect(after.metadata.iptc == MadePhoto.iptc)
            #expect(after.metadata.exif?.range(of: MadeEXIF.makerNote) != nil)
            #expect(file.range(of: MadeEXIF.preview) == nil)
            #expect(ConversionLoss.between(before, after, losesAlpha: false) == [])
            // From TIFF, the values go to other formats.
            let back: Data = try converter.convert(file, to: .jpeg())
            #expect(PhotoProperties(try Self.codecs.inspect(back).metadata) == properties)
        }

        @Test(arguments: [MetadataPolicy.strip, .keepCopyright, .keepWithoutLocation])
        func `no location remains`(policy: MetadataPolicy) throws {
            for isLittleEndian in [false, true] {
                let source = try photo(isLittleEndian: isLittleEndian)
                let converter = ImageConverter(codecs: Self.codecs, metadata: policy)
                let file: Data = try converter.convert(source, to: .tiff())

                for secret in MadeEXIF.secrets + MadePhoto.secrets { #expect(file.range(of: secret) == nil) }
                let (before, after) = (try Self.codecs.inspect(source), try Self.codecs.inspect(file))
                #expect(ConversionLoss.between(before, after, losesAlpha: false).contains(.exif))
                let properties = PhotoProperties(after.metadata)
                #expect(properties.make == (policy == .keepWithoutLocation ? "Alcedo Cameras" : nil))
                #expect(properties.artists == (policy == .strip ? [] : ["Ada Photographer"]))
                #expect(!properties.hasGPS)
            }
        }

        @Test(arguments: [16, 18] as [UInt8])
        func `PQ and HLG stay in TIFF on request, and become SDR by default`(transfer: UInt8) throws {
            let description = try #require(ColorDescription(primaries: 9, transfer: transfer))
            let pixels = try #require(
                PixelBuffer(
                    size: PixelSize(width: 48, height: 32), format: .rgba16, alphaMode: .opaque
                ) { memory, stride in
                    for y in 0..<32 {
                        for x in 0..<48 {
                            for channel in 0..<4 {
                                memory.storeBytes(
                                    of: channel == 3 ? UInt16.max : UInt16(900 * x + 300 * y + 100 * channel),
                                    toByteOffset: y * stride + 8 * x + 2 * channel, as: UInt16.self)
                            }
                        }
                    }
                })
            let image = DecodedImage(pixels: pixels, colorProfile: description.profile(isGray: false))
            let source = try ImageEncoder.png().encode(image)
            let converter = ImageConverter(codecs: Self.codecs, dynamicRange: .high)

            let file: Data = try converter.convert(source, to: .tiff())

            let options = DecodingOptions(pixelFormat: .rgba16)
            let decoded = try Self.codecs.decode(file, options: options)
            #expect(ColorDescription(highDynamicRangeOf: decoded.colorProfile) == description)
            #expect(decoded.pixels.tightBytes == pixels.tightBytes)
            let back: Data = try converter.convert(file, to: .png())
            #expect(try Self.codecs.inspect(back).colorDescription == description)
            #expect(try Self.codecs.decode(back, options: options).pixels.tightBytes == pixels.tightBytes)
            for converted in [source, file] {
                let standard: Data = try ImageConverter(codecs: Self.codecs).convert(converted, to: .tiff())
                let sdr = try Self.codecs.decode(standard, options: options)
                #expect(sdr.colorProfile == nil)
                #expect(sdr.pixels.tightBytes != pixels.tightBytes)
            }
        }

        @Test func `a photo with a gain map becomes PQ on request`() throws {
            let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let source = try Data(contentsOf: tests.appending(path: "Fuzz/JPEG/Seeds/gain-map.jpg"))
            var options = DecodingOptions(pixelFormat: .rgba16)
            options.dynamicRange = .high
            let expected = try Self.codecs.decode(source, options: options)
            let description = try #require(ColorDescription(highDynamicRangeOf: expected.colorProfile))

            let converter = ImageConverter(codecs: Self.codecs, dynamicRange: .high)
            let file: Data = try converter.convert(source, to: .tiff())

            let info = try Self.codecs.inspect(file)
            #expect(info.bitDepth == 16)
            #expect(ColorDescription(highDynamicRangeOf: info.metadata.colorProfile) == description)
            #expect(try Self.codecs.decode(file, options: options).pixels.tightBytes == expected.pixels.tightBytes)
        }
    }
#endif
