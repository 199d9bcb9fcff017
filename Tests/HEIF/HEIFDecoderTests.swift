#if HEIF
    import AlcedoCore
    import AlcedoHEIF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct HEIFDecoderTests {
        private let decoder = CodecRegistry.Entry.heifInProcess.decoder

        private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(data, options: options)
        }

        @Test(arguments: ["half", "halfwidth", "full"])
        func `every layout of color planes is interpolated and converted`(name: String) throws {
            let planes = ["half": SamplePlanes.half, "halfwidth": .halfWidth, "full": .full]

            let pixels = try decode(fixture("\(name).heic")).pixels

            #expect(pixels.format == .rgba8)
            #expect(pixels.alphaMode == .opaque)
            #expect(try #require(planes[name]).maximumDifference(from: pixels) <= 1)
            #expect(pixels.rgba(63, 63)[3] == 255)
        }

        @Test
        func `a file is parsed once for all that a load asks`() throws {
            #expect(try decoder.parseCounts(SampleFile.half.data()) == [1, 1])
        }

        @Test func `10 bits are kept in 16-bit samples on request`() throws {
            let data = try SampleFile.deep.data()

            let deep = try decode(data, DecodingOptions(pixelFormat: .rgba16)).pixels
            let shallow = try decode(data).pixels

            #expect(deep.format == .rgba16)
            #expect(shallow.format == .rgba8)
            #expect(SamplePlanes.deep.maximumDifference(from: deep) <= 1)
            #expect(SamplePlanes.deep.maximumDifference(from: shallow) <= 1)
            #expect(try decode(SampleFile.half.data(), DecodingOptions(pixelFormat: .rgba16)).pixels.format == .rgba8)
        }

        @Test func `gray files give gray pixels on request`() throws {
            let data = try SampleFile.gray.data()

            let gray = try decode(data, DecodingOptions(pixelFormat: .gray8)).pixels
            let color = try decode(data).pixels

            let samples = (0..<64).flatMap { y in (0..<64).map { x in graySample(x, y) } }
            #expect(gray.format == .gray8)
            #expect(gray.tightBytes == samples)
            #expect(color.format == .rgba8)
            #expect(color.tightBytes == samples.flatMap { [$0, $0, $0, 255] })
        }

        @Test(arguments: [
            (SampleFile.half, ColorModel.yCbCr, false, 8), (.gray, .gray, false, 8), (.deep, .yCbCr, false, 10),
            (.alpha, .yCbCr, true, 8),
        ])
        func `inspection returns size, depth, color model and alpha`(
            file: SampleFile, model: ColorModel, hasAlpha: Bool, depth: Int
        ) throws {
            let info = try decoder.inspect(file.data(), limits: DecodingLimits())

            #expect(info.format == .heif)
            #expect(info.size == PixelSize(width: 64, height: 64))
            #expect(info.hasAlpha == hasAlpha)
            #expect(info.bitDepth == depth)
            #expect(info.colorModel == model)
            #expect(info.frameCount == 1)
            #expect(info.orientation == .up)
            #expect(info.metadata.exif == nil)
        }

        @Test func `the luminance of the alpha image is the alpha`() throws {
            let opaque = try decode(SampleFile.half.data()).pixels

            let pixels = try decode(SampleFile.alpha.data()).pixels

            #expect(pixels.alphaMode == .straight)
            for (x, y) in [(0, 0), (5, 40), (63, 63)] {
                #expect(pixels.rgba(x, y) == opaque.rgba(x, y).dropLast() + [graySample(x, y)])
            }
            let premultiplied = try decode(SampleFile.alpha.data(), DecodingOptions(alphaMode: .premultiplied)).pixels
            #expect(premultiplied == pixels.converted(to: .premultiplied))
        }

        @Test func `color that the file stores premultiplied is divided by alpha`() throws {
            let stored = try decode(SampleFile.alpha.data()).pixels

            let pixels = try decode(SampleFile.alpha(isPremultiplied: true)).pixels

            #expect(pixels == stored.reinterpreted(as: .premultiplied).converted(to: .straight))
            #expect(pixels.tightBytes != stored.tightBytes)
        }

        @Test(arguments: [(2, 1, 1, 1), (1, 3, 1, 1), (1, 1, 2, 3), (2, 3, 3, 2)])
        func `alpha of another size is scaled to the nearest samples`(
            columns: Int, rows: Int, alphaColumns: Int, alphaRows: Int
        ) throws {
            let size = PixelSize(width: 64 * columns, height: 64 * rows)
            let alphaSize = PixelSize(width: 64 * alphaColumns - 3, height: 64 * alphaRows - 5)
            var builder = HEIFBuilder()
            builder.addGrid(columns: columns, rows: rows, size: size)
            builder.addGrid(columns: alphaColumns, rows: alphaRows, size: alphaSize, properties: [HEIFBuilder.alpha])
            let (half, gray) = (try CodedPicture("half.heic"), try CodedPicture("gray.heic"))
            let tiles = (0..<columns * rows).map { _ in builder.add(half) }
            let alphaTiles = (0..<alphaColumns * alphaRows).map { _ in builder.add(gray) }
            builder.refer("dimg", from: 1, to: tiles)
            builder.refer("dimg", from: 2, to: alphaTiles)
            builder.refer("auxl", from: 2, to: [1])
            let data = builder.data

            let pixels = try decode(data).pixels
            let collector = PixelRowCollector()
            try decoder.decodeRows(data, options: DecodingOptions(), into: collector)

            var differences = 0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (column, row) = (x * alphaSize.width / size.width, y * alphaSize.height / size.height)
                    if pixels.rgba(x, y)[3] != graySample(column % 64, row % 64) { differences += 1 }
                }
            }
            #expect(differences == 0)
            #expect(collector.image?.pixels == pixels)
        }

        @Test func `alpha of another size is scaled in 16 bits`() throws {
            var builder = HEIFBuilder()
            builder.addGrid(columns: 2, rows: 1, size: PixelSize(width: 128, height: 64))
            let picture = try CodedPicture("deep.heic")
            let tiles = (0..<2).map { _ in builder.add(picture) }
            let alpha = builder.add(try CodedPicture("gray.heic"), [HEIFBuilder.alpha])
            builder.refer("dimg", from: 1, to: tiles)
            builder.refer("auxl", from: alpha, to: [1])

            let bytes = try decode(builder.data, DecodingOptions(pixelFormat: .rgba16)).pixels.tightBytes

            for (x, y) in [(0, 0), (101, 40), (127, 63)] {
                let index = 8 * (128 * y + x) + 6
                let sample = graySample(x / 2, y)
                #expect(bytes[index] == sample)
                #expect(bytes[index + 1] == sample)
            }
        }

        @Test func `another auxiliary image is ignored`() throws {
            let depth = HEIFBuilder.box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:hevc:2015:auxid:2".utf8) + [0])
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.add(try CodedPicture("gray.heic"), [depth])
            builder.refer("auxl", from: 2, to: [1])

            #expect(try decode(builder.data).pixels == decode(SampleFile.half.data()).pixels)
        }

        @Test(arguments: [
            (2, 2, 128, 100, "half"), (1, 3, 64, 192, "deep"), (3, 1, 150, 64, "half"), (2, 3, 128, 129, "half"),
            (1, 1, 40, 30, "half"), (1, 1, 64, 64, "deep"),
        ])
        func `tiles are joined, and color is interpolated between them`(
            columns: Int, rows: Int, width: Int, height: Int, name: String
        ) throws {
            let size = PixelSize(width: width, height: height)
            let planes = (name == "half" ? SamplePlanes.half : .deep).tiled(size)
            let data = try SampleFile.grid("\(name).heic", columns: columns, rows: rows, size)

            let pixels = try decode(data).pixels
            let collector = PixelRowCollector()
            try decoder.decodeRows(data, options: DecodingOptions(), into: collector)

            #expect(planes.maximumDifference(from: pixels) <= 1)
            #expect(collector.image?.pixels == pixels)
        }

        @Test func `rows below a crop are those of the whole grid`() throws {
            let size = PixelSize(width: 128, height: 192)
            let whole = try decode(SampleFile.grid("half.heic", columns: 2, rows: 3, size)).pixels
            for top in [63, 64, 65, 127, 128, 129] {
                var builder = HEIFBuilder()
                let crop = HEIFBuilder.crop(width: 128, height: 50, halfX: 0, halfY: 2 * top - 142)
                builder.addGrid(columns: 2, rows: 3, size: size, properties: [crop])
                let picture = try CodedPicture("half.heic")
                let tiles = (0..<6).map { _ in builder.add(picture) }
                builder.refer("dimg", from: 1, to: tiles)

                let pixels = try decode(builder.data).pixels

                #expect(pixels.size == PixelSize(width: 128, height: 50))
                for y in [0, 1, 49] { #expect(pixels.rgba(7, y) == whole.rgba(7, top + y), "row \(top + y)") }
            }
        }

        @Test(arguments: [(1, true, 0.2126, 0.0722), (9, false, 0.2627, 0.0593), (7, true, 0.212, 0.087)])
        func `the color of the container replaces that of the bitstream`(
            matrix: Int, isFullRange: Bool, red: Double, blue: Double
        ) throws {
            var planes = SamplePlanes.half
            planes.weights = (red, blue)
            planes.isFullRange = isFullRange
            var builder = HEIFBuilder()
            let color = HEIFBuilder.color(matrix: matrix, isFullRange: isFullRange)
            builder.add(try CodedPicture("half.heic"), [color])

            #expect(planes.maximumDifference(from: try decode(builder.data).pixels) <= 1)
        }

        @Test func `code points give a profile when the file has none`() throws {
            func profile(_ primaries: Int, _ transfer: Int) throws -> Data? {
                var builder = HEIFBuilder()
                let color = HEIFBuilder.color(matrix: 1, isFullRange: true, primaries: primaries, transfer: transfer)
                builder.add(try CodedPicture("half.heic"), [color])
                return try decode(builder.data).colorProfile
            }

            #expect(try profile(1, 13) == nil)
            #expect(try profile(2, 2) == nil)
            #expect(try profile(3, 13) == nil)
            #expect(try profile(1_000, 13) == nil)
            #expect(try profile(12, 13) == ColorDescription(primaries: 12, transfer: 13)?.profile(isGray: false))
            #expect(try profile(12, 13) != nil)
        }

        @Test func `a gray profile counts in a gray file and not in a file with colors`() throws {
            let profile = try #require(ColorDescription(primaries: 9, transfer: 14)?.profile(isGray: true))
            func result(_ name: String) throws -> Data? {
                var builder = HEIFBuilder()
                builder.add(try CodedPicture(name), [HEIFBuilder.profile([UInt8](profile))])
                return try decode(builder.data).colorProfile
            }

            #expect(try result("gray.heic") == profile)
            #expect(try result("half.heic") != profile)
        }

        @Test func `the identity matrix and YCgCo are converted`() throws {
            func pixels(_ matrix: Int) throws -> PixelBuffer {
                var builder = HEIFBuilder()
                let color = HEIFBuilder.color(matrix: matrix, isFullRange: true)
                builder.add(try CodedPicture("full.heic"), [color])
                return try decode(builder.data).pixels
            }
            let planes = SamplePlanes.full
            let (y, u, v) = (planes.luma(9, 20), planes.blue(9, 20), planes.red(9, 20))

            #expect(try pixels(0).rgba(9, 20) == [v, y, u, 255].map { UInt8($0) })
            let (green, orange) = (u - 128, v - 128)
            let channels = [y - green + orange, y + green, y - green - orange, 255]
            #expect(try pixels(8).rgba(9, 20) == channels.map { UInt8(min(255, max(0, $0))) })
        }

        @Test func `lengths of two bytes and the item data box are read`() throws {
            let picture = try CodedPicture("half.heic")
            let short = picture.withShortLengths
            var builder = HEIFBuilder()
            builder.add("hvc1", short.payload, [HEIFBuilder.extents(picture.size), short.configuration])
            builder.usesItemData = true

            #expect(try decode(builder.data).pixels == decode(SampleFile.half.data()).pixels)
        }

        @Test(arguments: [SampleFile.alpha, .deep, .grid, .rotated])
        func `a target size averages the pixels of the whole image`(file: SampleFile) throws {
            let data = try file.data()
            var options = DecodingOptions(appliesOrientation: false)
            let whole = try decode(data, options)
            let target = TargetSize(width: 20, height: 20)
            options.target = target

            let small = try decode(data, options)

            let reduction = BoxReduction(from: whole.size, orientation: whole.orientation, towards: target)
            #expect(reduction.factor > 1)
            #expect(try small.pixels == whole.pixels.reduced(by: reduction))
        }

        @Test(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory && !recordsAccesses))
        func `a decoder holds no more memory than its budget`() async throws {
            // 900 tiles of 64 × 64 pixels.
            let size = PixelSize(width: 30 * 64, height: 30 * 64)
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(path: "bomb")
            var builder = HEIFBuilder()
            builder.addGrid(columns: 30, rows: 30, size: size)
            let tile = builder.add(try CodedPicture("half.heic"))
            builder.refer("dimg", from: 1, to: Array(repeating: tile, count: 900))
            try builder.data.write(to: file)
            let path = file.path(percentEncoded: false)
            await #expect(processExitsWith: .success) { [path = path as String] in
                let data = try Data(contentsOf: URL(filePath: path))
                let decoder = CodecRegistry.Entry.heifInProcess.decoder
                try PeakMemory.checkDecode(data, by: decoder, DecodingOptions(), "heif")
            }
        }

        @Test func `the reported decoding memory grows with planes, rotation and size`() throws {
            func count(_ file: SampleFile, _ options: DecodingOptions = DecodingOptions()) throws -> Int {
                try decoder.decodingByteCount(file.data(), options: options)
            }
            let output = try #require(PixelBuffer.byteCount(size: PixelSize(width: 64, height: 64), format: .rgba8))

            #expect(try count(.gray) < count(.half))
            #expect(try count(.half) < count(.alpha))
            #expect(try count(.half) < count(.deep))
            #expect(try count(.half) < count(.grid))
            #expect(try count(.rotated) >= count(.rotated, DecodingOptions(appliesOrientation: false)) + output)
        }
    }
#endif
