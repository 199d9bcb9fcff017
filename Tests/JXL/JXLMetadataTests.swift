#if JXL
    import AlcedoCore
    import AlcedoJXL
    import Foundation
    import TestSupport
    import Testing

    @Suite struct JXLMetadataTests {
        private let decoder = JXLDecoder()
        private let xmp = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8)

        private func metadata(_ data: Data, _ limits: DecodingLimits = DecodingLimits()) throws -> ImageMetadata {
            try decoder.inspect(data, limits: limits).metadata
        }

        @Test(arguments: [0, 5])
        func `EXIF and XMP are read, and their orientation is not applied`(offset: Int) throws {
            let pixels = try samplePixels(SampleFile.size)
            let tiff = ImageOrientation.right.exif
            let boxes = [BoxedFile.exif(tiff, offset: offset), BoxedFile.box("xml ", xmp)]
            for file in try [
                BoxedFile.data(SampleFile.lossless.data(), before: boxes),
                BoxedFile.data(SampleFile.lossless.data(), after: boxes),
            ] {
                #expect(try metadata(file) == ImageMetadata(exif: Data(tiff), xmp: xmp))
                #expect(try decoder.inspect(file, limits: DecodingLimits()).orientation == .up)
                #expect(try decoder.decode(file, options: DecodingOptions()).pixels == pixels)
            }
        }

        @Test func `compressed boxes are decompressed`() throws {
            let tiff = Data(ImageOrientation.right.exif)
            let boxes = [
                BoxedFile.compressed("Exif", Data(count: 4) + tiff), BoxedFile.compressed("xml ", xmp),
                BoxedFile.compressed("jumb", xmp),
            ]

            let file = try BoxedFile.data(SampleFile.lossless.data(), before: boxes)

            #expect(try metadata(file) == ImageMetadata(exif: tiff, xmp: xmp))
        }

        @Test func `the first box of a type applies`() throws {
            let boxes = [BoxedFile.compressed("xml ", xmp), BoxedFile.box("xml ", Data("other".utf8))]

            #expect(try metadata(BoxedFile.data(SampleFile.lossless.data(), before: boxes)).xmp == xmp)
        }

        @Test func `damaged metadata is ignored`() throws {
            let damaged = [
                BoxedFile.box("Exif", Data([0, 0])), BoxedFile.box("Exif", Data([0, 0, 0, 200, 1, 2])),
                BoxedFile.box("Exif", Data([0xFF, 0xFF, 0xFF, 0xFF, 1])), BoxedFile.box("Exif", Data()),
                BoxedFile.box("brob", Data("Exif".utf8)), BoxedFile.box("brob", Data("xm".utf8)),
                BoxedFile.box("brob", Data("xml ".utf8) + Data(repeating: 0xFF, count: 30)),
            ]
            for box in damaged {
                let file = try BoxedFile.data(SampleFile.lossless.data(), before: [box])
                #expect(try metadata(file) == ImageMetadata())
                let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))
                // A compressed box of an unknown kind is no metadata.
                #expect((image.damage?.kind == .harmless) == !box.starts(with: BoxedFile.box("brob", Data("xm".utf8))))
            }
        }

        @Test func `compressed metadata that ends too early is omitted`() throws {
            let stored = BoxedFile.compressed("xml ", xmp)
            for (box, range) in [(stored, 1...stored.count - 13), (BoxedFile.expandingXMP, 1...13)] {
                // The header of the box and the type have 12 bytes.
                for missingCount in range {
                    let contents = Data(box.dropFirst(8).dropLast(missingCount))
                    let file = try BoxedFile.data(
                        SampleFile.lossless.data(), before: [BoxedFile.box("brob", contents)])
                    #expect(try metadata(file).xmp == nil, "\(missingCount) bytes are missing")
                }
                let file = try BoxedFile.data(SampleFile.lossless.data(), before: [box])
                #expect(try metadata(file).xmp != nil)
            }
        }

        @Test func `metadata over a limit is omitted`() throws {
            let boxes = [BoxedFile.compressed("xml ", Data(repeating: 0x20, count: 300))]
            let file = try BoxedFile.data(SampleFile.lossless.data(), before: boxes)

            for (total, chunk, isKept) in [(400, 400, true), (400, 299, false), (299, 400, false)] {
                let limits = DecodingLimits(maximumMetadataByteCount: total, maximumChunkByteCount: chunk)
                #expect(try (metadata(file, limits).xmp != nil) == isKept)
            }
        }

        @Test func `the limits apply to the decompressed metadata`() throws {
            let file = try BoxedFile.data(SampleFile.lossless.data(), before: [BoxedFile.expandingXMP])
            let xmp = Data(repeating: 0x20, count: 200_000)

            for (total, chunk, expected) in [
                (200_000, 200_000, xmp), (200_000, 199_999, nil), (199_999, 200_000, nil),
            ] as [(Int, Int, Data?)] {
                let limits = DecodingLimits(maximumMetadataByteCount: total, maximumChunkByteCount: chunk)
                #expect(try metadata(file, limits).xmp == expected)
            }
        }

        @Test func `a lossless file keeps its profile, within the limit`() throws {
            let profile = try testFile("JPEG/Fixtures/profile.icc")
            let pixels = try samplePixels(SampleFile.size)
            let image = DecodedImage(pixels: pixels, colorProfile: profile)

            let data = try JXLEncoder(compression: .lossless, effort: 3).encode(image)

            let decoded = try decoder.decode(data, options: DecodingOptions())
            #expect(decoded.colorProfile == profile)
            #expect(decoded.pixels == pixels)
            #expect(try metadata(data).colorProfile == profile)
            let limits = DecodingLimits(maximumMetadataByteCount: profile.count - 1)
            #expect(try metadata(data, limits).colorProfile == nil)
            #expect(try decoder.decode(data, options: DecodingOptions(limits: limits)).pixels == pixels)
            #expect(try decoder.decode(SampleFile.lossy.data(), options: DecodingOptions()).colorProfile == nil)
        }

        @Test func `a lossy image with a profile that libjxl does not recognize is decoded to sRGB`() throws {
            var profile = try testFile("JPEG/Fixtures/profile.icc")
            // The exponent of the curves of sRGB becomes 1.8. It has 16 bits after the point.
            for (offset, byte) in ([0, 1, 0xCC, 0xCD] as [UInt8]).enumerated() { profile[532 + offset] = byte }
            let pixels = try madePixels(PixelSize(width: 16, height: 16), .rgba8, alphaMode: .opaque) { _, _ in
                [128, 128, 128, 255]
            }

            let data = try JXLEncoder(effort: 3).encode(DecodedImage(pixels: pixels, colorProfile: profile))

            let decoded = try decoder.decode(data, options: DecodingOptions())
            #expect(decoded.colorProfile == nil)
            #expect(try metadata(data).colorProfile == profile)
            // ((128 / 255 + 0.055) / 1.055) ^ 1.8 is 0.317, which is 153 in sRGB.
            for sample in decoded.pixels.rgba(8, 8).prefix(3) { #expect(abs(Int(sample) - 153) <= 3) }
        }

        /// Lossless files of 8 x 8 gray pixels, encoded by libjxl 0.7: BT.2020 with PQ, and Display P3 with HLG.
        @Test(arguments: [
            ("/wpBBBCQR484HAAAAAACCAIBAFQASxiLFcJJQV4gAoAAAAAAAAAAAAAA", UInt8(9), UInt8(16)),
            ("/wpBBBCQaSDQYwAAAAAICAIBAFQASxiLFcJJQV4gAoAAAAAAAAAAAAAA", 12, 18),
        ])
        func `a file of HDR has a profile that maps tones`(file: String, primaries: UInt8, transfer: UInt8) throws {
            let data = try #require(Data(base64Encoded: file))
            let description = try #require(ColorDescription(primaries: primaries, transfer: transfer))

            let profile = description.profile(isGray: false)

            #expect(profile != nil)
            #expect(try decoder.decode(data, options: DecodingOptions()).colorProfile == profile)
            #expect(try decoder.inspect(data, limits: DecodingLimits()).colorDescription == description)
        }
    }
#endif
