#if JXL
    import AlcedoCore
    import AlcedoJXL
    import Foundation
    import TestSupport
    import Testing

    @Suite struct JXLIncrementalTests {
        private let decoder = JXLDecoder()

        @Test func `the properties are known when the header has arrived`() throws {
            let data = try SampleFile.lossless.data()
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

            try pieces.append(Data(data.prefix(3)))
            #expect(pieces.info == nil)
            #expect(pieces.decodingByteCount == nil)
            try pieces.append(Data(data[3..<80]))

            #expect(try pieces.info == decoder.inspect(data, limits: DecodingLimits()))
            #expect(pieces.decodingByteCount != nil)
        }

        @Test func `frames and metadata after the first pixels are known at the end`() throws {
            let tiff = ImageOrientation.right.exif
            let data = try BoxedFile.data(animationFile(frameCount: 3), after: [BoxedFile.exif(tiff)])
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

            try pieces.append(Data(data.prefix(64)))
            let early = try #require(pieces.info)
            try pieces.append(Data(data[64...]))
            let image = try pieces.finish()

            #expect(early.metadata.exif == nil)
            #expect(early.frameCount == 1)
            #expect(image.frames?.frameCount == 3)
            #expect(pieces.info?.metadata.exif == Data(tiff))
            #expect(try pieces.info == decoder.inspect(data, limits: DecodingLimits()))
        }

        @Test func `a lossy image is visible before its bytes are complete`() throws {
            let pixels = try madePixels(PixelSize(width: 600, height: 400), .rgba8, alphaMode: .opaque) { x, y in
                [x * 255 / 600, 100 + (x * y / 7) % 40, y * 255 / 400, 255]
            }
            let data = try JXLEncoder(effort: 3).encode(DecodedImage(pixels: pixels))
            let whole = try decoder.decode(data, options: DecodingOptions()).pixels
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
            var errors: [Int] = []
            var lastPass = 0

            var rest = data
            while !rest.isEmpty {
                try pieces.append(Data(rest.prefix(1_000)))
                rest = rest.dropFirst(1_000)
                guard let preview = try pieces.preview() else { continue }
                #expect(preview.image.size == whole.size)
                #expect(preview.pass >= lastPass)
                lastPass = preview.pass
                let differences = zip(preview.image.pixels.tightBytes, whole.tightBytes).map { abs(Int($0) - Int($1)) }
                errors.append(differences.reduce(0, +))
            }

            // The first preview has a lower resolution, and the last one is the image. Each one has new pixels.
            #expect(errors.count > 1)
            #expect(errors.last == 0)
            #expect(Set(errors).count == errors.count)
            #expect(errors.dropLast().allSatisfy { $0 > 0 && $0 < 30 * whole.size.pixelCount })
            #expect(try pieces.finish().pixels == whole)
        }

        @Test(arguments: [5, 64, 1_000])
        func `the codestream of a preview is read from several boxes`(pieceSize: Int) throws {
            var rest = try animationFile(frameCount: 3)
            var boxes: [Data] = []
            while !rest.isEmpty {
                boxes.append(BoxedFile.part(Data(rest.prefix(100)), index: boxes.count, isLast: rest.count <= 100))
                rest = rest.dropFirst(100)
            }
            let file = BoxedFile.file(boxes)
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
            var last: PixelBuffer?

            for start in stride(from: 0, to: file.count, by: pieceSize) {
                try pieces.append(Data(file[start..<min(start + pieceSize, file.count)]))
                if let preview = try pieces.preview() { last = preview.image.pixels }
            }

            #expect(try last == animationFrame(0))
            #expect(try pieces.finish().frames?.frameCount == 3)
        }

        @Test func `a preview has the requested orientation and size`() throws {
            let data = try SampleFile.rotated.data()
            let options = DecodingOptions(target: TargetSize(width: 5, height: 7))
            let pieces = decoder.makeIncrementalDecoder(options: options)

            try pieces.append(data)
            let preview = try #require(try pieces.preview())

            #expect(try pieces.preview() == nil)
            #expect(try preview.image.pixels == pieces.finish().pixels)
        }

        @Test func `an image over the limit is refused when its header has arrived`() throws {
            let data = try SampleFile.lossless.data()
            let options = DecodingOptions(limits: DecodingLimits(maximumPixelCount: 21 * 15 - 1))
            let pieces = decoder.makeIncrementalDecoder(options: options)

            let error = #expect(throws: ImageDecodingError.self) { try pieces.append(Data(data.prefix(80))) }

            #expect(error?.code == .exceedsLimit)
        }
    }
#endif
