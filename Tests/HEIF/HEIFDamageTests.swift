#if HEIF
    import AlcedoCore
    import AlcedoHEIF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct HEIFDamageTests {
        private let decoder = CodecRegistry.Entry.heifInProcess.decoder

        @Test(.timeLimit(.minutes(10)), arguments: SampleFile.allCases, DecoderConformance.checks)
        func `the decoder passes each conformance check`(
            file: SampleFile, check: DecoderConformance.Check
        ) async throws {
            let data = try file.data()
            try await check { [decoder] _ in (decoder, data) }
        }

        @Test func `random bytes with the brand of the format are an error`() {
            var random = SeededGenerator(seed: 3)
            for count in 0..<200 {
                let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                let file = Data(HEIFBuilder.box("ftyp", Array("heic\0\0\0\0heicmif1".utf8))) + noise
                #expect(decoder.errorCode(file) != nil)
            }
        }

        @Test func `a size over the limit is refused before pixels are read`() throws {
            let picture = try CodedPicture("half.heic")
            for size in [PixelSize(width: 65_536, height: 65_536), PixelSize(width: 20_000, height: 10_000)] {
                var builder = HEIFBuilder()
                builder.add("hvc1", picture.payload, [HEIFBuilder.extents(size), picture.configuration])
                #expect(decoder.errorCode(builder.data) == .exceedsLimit)
                let grid = try SampleFile.grid("half.heic", columns: 2, rows: 2, size)
                #expect(decoder.errorCode(grid) != nil)
            }
        }

        @Test func `a picture of another size than declared is corrupt`() throws {
            let picture = try CodedPicture("half.heic")
            for size in [PixelSize(width: 32, height: 64), PixelSize(width: 64, height: 72)] {
                var builder = HEIFBuilder()
                builder.add("hvc1", picture.payload, [HEIFBuilder.extents(size), picture.configuration])
                #expect(decoder.errorCode(builder.data) == .corrupt)
            }
        }

        @Test func `tiles that do not cover the image or are missing are corrupt`() throws {
            let large = try SampleFile.grid("half.heic", columns: 2, rows: 2, PixelSize(width: 128, height: 129))
            #expect(decoder.errorCode(large) == .corrupt)
            var builder = HEIFBuilder()
            builder.addGrid(columns: 2, rows: 1, size: PixelSize(width: 128, height: 64))
            let tile = builder.add(try CodedPicture("half.heic"))
            builder.refer("dimg", from: 1, to: [tile])
            #expect(decoder.errorCode(builder.data) == .corrupt)
        }

        @Test func `a grid of itself exceeds a limit`() {
            var recursive = HEIFBuilder()
            recursive.addGrid(columns: 1, rows: 1, size: PixelSize(width: 64, height: 64))
            recursive.refer("dimg", from: 1, to: [1])

            #expect(decoder.errorCode(recursive.data) == .exceedsLimit)
        }

        @Test func `tiles of different kinds are unsupported`() throws {
            var mixed = HEIFBuilder()
            mixed.addGrid(columns: 2, rows: 1, size: PixelSize(width: 128, height: 64))
            let tiles = try ["half.heic", "gray.heic"].map { mixed.add(try CodedPicture($0)) }
            mixed.refer("dimg", from: 1, to: tiles)
            #expect(decoder.errorCode(mixed.data) == .unsupportedVariant)
        }

        @Test(arguments: [
            HEIFBuilder.rotation(1), HEIFBuilder.mirror(0), HEIFBuilder.crop(width: 32, height: 64, halfX: 0, halfY: 0),
        ])
        func `a tile that is rotated, mirrored or cropped is unsupported`(transform: [UInt8]) throws {
            var builder = HEIFBuilder()
            builder.addGrid(columns: 1, rows: 1, size: PixelSize(width: 32, height: 32))
            let tile = builder.add(try CodedPicture("half.heic"), [transform])
            builder.refer("dimg", from: 1, to: [tile])

            #expect(decoder.errorCode(builder.data) == .unsupportedVariant)
        }

        @Test func `more tiles than the limit are refused`() throws {
            func file(columns: Int, rows: Int) throws -> Data {
                var builder = HEIFBuilder()
                builder.addGrid(columns: columns, rows: rows, size: PixelSize(width: 64 * columns, height: 64 * rows))
                let tile = builder.add(try CodedPicture("gray.heic"))
                builder.refer("dimg", from: 1, to: Array(repeating: tile, count: columns * rows))
                return builder.data
            }

            let limits = DecodingLimits()
            #expect(throws: Never.self) { try decoder.inspect(file(columns: 64, rows: 64), limits: limits) }
            #expect(decoder.errorCode(try file(columns: 65, rows: 64)) == .exceedsLimit)
        }

        @Test func `other codecs, and essential properties that are unknown, are unsupported`() throws {
            let picture = try CodedPicture("half.heic")
            var other = HEIFBuilder()
            other.add("av01", picture.payload, [HEIFBuilder.extents(picture.size)])
            #expect(decoder.errorCode(other.data) == .unsupportedVariant)
            var builder = HEIFBuilder()
            builder.add(picture, [HEIFBuilder.box("xxxx", [1])])
            #expect(decoder.errorCode(builder.data) == nil)
            builder.essentialProperties.append("xxxx")
            #expect(decoder.errorCode(builder.data) == .unsupportedVariant)
        }

        @Test func `an unsupported matrix is an error`() throws {
            for matrix in [3, 10, 14, 200] {
                var builder = HEIFBuilder()
                let color = HEIFBuilder.color(matrix: matrix, isFullRange: true)
                builder.add(try CodedPicture("half.heic"), [color])
                #expect(decoder.errorCode(builder.data) == .unsupportedVariant, "matrix \(matrix)")
            }
        }

        @Test func `an image that is its own alpha is opaque`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"), [HEIFBuilder.alpha])
            builder.refer("auxl", from: 1, to: [1])

            #expect(try decoder.decode(builder.data, options: DecodingOptions()).pixels.alphaMode == .opaque)
        }

        @Test func `an image whose alpha has an unreadable property is opaque`() throws {
            let unknown = HEIFBuilder.box("xxxx", [1])
            let damaged = HEIFBuilder.box("irot", [])
            let depth = HEIFBuilder.box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:hevc:2015:auxid:2".utf8) + [0])
            func damage(_ properties: [[UInt8]]) throws -> DamageTolerance? {
                var builder = HEIFBuilder()
                builder.essentialProperties.append("xxxx")
                builder.add(try CodedPicture("half.heic"))
                builder.add(try CodedPicture("gray.heic"), properties)
                builder.refer("auxl", from: 2, to: [1])
                let image = try decoder.decode(builder.data, options: DecodingOptions())
                #expect(image.pixels.alphaMode == .opaque)
                return image.damage?.kind
            }

            #expect(try damage([unknown, HEIFBuilder.alpha]) == .harmless)
            #expect(try damage([damaged, HEIFBuilder.alpha]) == .harmless)
            // Other auxiliary images are not read.
            #expect(try damage([unknown, depth]) == nil)
            #expect(try damage([damaged, depth]) == nil)
        }

        @Test func `an image whose alpha cannot be decoded is opaque`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            let plain = try decoder.decode(builder.data, options: DecodingOptions()).pixels
            let gray = try CodedPicture("gray.heic")
            builder.add(
                "hvc1", [UInt8](repeating: 0xFF, count: gray.payload.count),
                [HEIFBuilder.extents(gray.size), gray.configuration, HEIFBuilder.alpha])
            builder.refer("auxl", from: 2, to: [1])

            let image = try decoder.decode(builder.data, options: DecodingOptions(tolerance: .harmless))

            #expect(image.pixels.tightBytes == plain.tightBytes)
            #expect(image.damage?.kind == .harmless)
            try DecoderChecks(decoder).checkRows(builder.data)
        }

        @Test(arguments: [99_999_999, 0xFFFF_FFFF], ["alpha", "depth"])
        func `an auxiliary image outside of the file is left out and reported`(offset: Int, kind: String) throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            let plain = try decoder.decode(builder.data, options: DecodingOptions()).pixels
            let depth = HEIFBuilder.box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:hevc:2015:auxid:2".utf8) + [0])
            builder.add(try CodedPicture("gray.heic"), [kind == "alpha" ? HEIFBuilder.alpha : depth])
            builder.refer("auxl", from: 2, to: [1])
            var file = builder.data
            #expect(try decoder.decode(file, options: DecodingOptions()).damage == nil)
            // The second of the locations, of 16 bytes each: the offset follows eight bytes.
            let location = try #require(file.range(of: Data("iloc".utf8))).upperBound + 8 + 16
            file.replaceSubrange(location + 8..<location + 12, with: HEIFBuilder.number(offset, 4))

            let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))

            #expect(image.pixels == plain)
            #expect(image.damage?.kind == .harmless)
            try DecoderChecks(decoder).checkRows(file)
            try DecoderChecks(decoder).checkPieces(file)
        }

        @Test(arguments: ["infe", "cdsc"], [0, 3, 5])
        func `the entry of an item that is not needed may be too short`(type: String, count: Int) throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.add("free", [7])
            builder.refer("cdsc", from: 2, to: [1])
            let whole = try decoder.decode(builder.data, options: DecodingOptions())
            var file = builder.data
            let start = try #require(file.range(of: Data(type.utf8), options: .backwards)).upperBound
            // The rest of the entry becomes a box of its own, so that the other boxes stay where they are.
            let left = Int(file[start - 5]) - 8 - count
            let zeros = [UInt8](repeating: 0, count: left < 8 ? left : left - 8)
            file[start - 5] = UInt8(8 + count)
            file.replaceSubrange(
                start + count..<start + count + left, with: left < 8 ? zeros : HEIFBuilder.box("free", zeros))

            let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))

            #expect(whole.damage == nil)
            #expect(image.pixels == whole.pixels)
            #expect(image.damage?.kind == .harmless)
            #expect(try decoder.inspect(file, limits: DecodingLimits()).size == image.size)
            try DecoderChecks(decoder).checkRows(file)
        }

        @Test func `a missing end of the file after the pixels is harmless`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.add("free", [UInt8](repeating: 7, count: 50))
            let whole = try decoder.decode(builder.data, options: DecodingOptions())
            let cut = Data(builder.data.dropLast(20))

            let image = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))

            #expect(image.pixels == whole.pixels)
            #expect(image.damage?.kind == .harmless)
            #expect(whole.damage == nil)
        }

        @Test func `a damaged picture is an error and not a complete image`() throws {
            let data = try SampleFile.half.data()
            let start = try #require(data.range(of: Data("mdat".utf8))).upperBound
            var errorCount = 0
            // The slice is the last unit of the file. Other units before it are not decoded.
            for offset in stride(from: data.count - 300, to: data.count - 1, by: 7) where offset > start {
                var damaged = data
                damaged[offset] ^= 0x10
                if decoder.errorCode(damaged) == .corrupt { errorCount += 1 }
            }

            #expect(errorCount >= 40)
        }

        @Test func `damaged metadata does not prevent decoding`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            builder.add("Exif", [0xFF])
            builder.add("Exif", [0xFF, 0xFF, 0xFF, 0xFF, 1])
            builder.refer("cdsc", from: 2, to: [1])
            builder.refer("cdsc", from: 3, to: [1])

            #expect(decoder.errorCode(builder.data) == nil)
            #expect(try decoder.inspect(builder.data, limits: DecodingLimits()).metadata.exif == nil)
        }

        @Test func `bytes after the file are ignored`() throws {
            let data = try SampleFile.half.data()

            for count in [1, 7, 8, 40] {
                #expect(decoder.errorCode(data + Data(repeating: 0x20, count: count)) == nil, "\(count) bytes")
            }
        }

        @Test func `a file without boxes of the format is corrupt`() {
            #expect(decoder.errorCode(Data("no picture at all".utf8)) == .corrupt)
            #expect(decoder.errorCode(Data(HEIFBuilder.box("ftyp", Array("heic\0\0\0\0".utf8)))) == .truncated)
        }

        @Test func `a file whose track may follow is truncated, and not corrupt`() {
            let brands = HEIFBuilder.box("ftyp", Array("hevc\0\0\0\0msf1hevc".utf8))
            let meta = HEIFBuilder.box("meta", [0, 0, 0, 0])

            #expect(decoder.errorCode(Data(brands + meta)) == .corrupt)
            #expect(decoder.errorCode(Data(brands + meta + HEIFBuilder.box("moov", [0]).dropLast())) == .truncated)
        }

        @Test func `a truncated grid gives the rows of its complete tiles`() throws {
            let data = try SampleFile.grid.data()
            let cut = Data(data.dropLast(10))
            let whole = try decoder.decode(data, options: DecodingOptions()).pixels

            let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

            #expect(image.partialError?.code == .truncated)
            #expect(image.size == whole.size)
            #expect(image.pixels.alphaMode == .straight)
            // The color of the last row of a tile is interpolated with the next tile.
            #expect(image.pixels.rgba(127, 62) == whole.rgba(127, 62))
            #expect(image.pixels.rgba(5, 63) == [0, 0, 0, 0])
            #expect(decoder.errorCode(cut) == .truncated)
        }

        @Test func `locations whose sums overflow are corrupt`() {
            let largest = HEIFBuilder.number(Int.max, 8)
            let entry = HEIFBuilder.box("infe", [2, 0, 0, 0, 0, 1, 0, 0] + Array("hvc1".utf8) + [0])
            let types = HEIFBuilder.box("iinf", [0, 0, 0, 0, 0, 1] + entry)
            let primary = HEIFBuilder.box("pitm", [0, 0, 0, 0, 0, 1])
            let brands = HEIFBuilder.box("ftyp", Array("heic\0\0\0\0heicmif1".utf8))
            // Bases and offsets have eight bytes, and a part without a length is the rest of the file.
            for lengthSize in [0, 8] {
                let sizes = [UInt8(0x80 + lengthSize), 0x80]
                let length = HEIFBuilder.number(Int.max, lengthSize)
                let location: [UInt8] = [0, 1, 0, 0, 0, 0] + largest + [0, 1] + largest + length
                let locations = HEIFBuilder.box("iloc", [1, 0, 0, 0] + sizes + [0, 1] + location)
                let meta = HEIFBuilder.box("meta", [0, 0, 0, 0] + primary + locations + types)

                #expect(decoder.errorCode(Data(brands + meta)) == .corrupt)
            }
        }

        @Test func `more references than the limit are refused`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("gray.heic"))
            builder.refer("cdsc", from: 1, to: Array(repeating: 1, count: 40_000))
            #expect(decoder.errorCode(builder.data) == nil)

            builder.refer("cdsc", from: 1, to: Array(repeating: 1, count: 40_000))
            #expect(decoder.errorCode(builder.data) == .exceedsLimit)
        }

        @Test func `all tiles share the time limit`() throws {
            var builder = HEIFBuilder()
            builder.addGrid(columns: 64, rows: 64, size: PixelSize(width: 4_096, height: 4_096))
            let tile = builder.add(try CodedPicture("gray.heic"))
            builder.refer("dimg", from: 1, to: Array(repeating: tile, count: 64 * 64))
            let data = builder.data
            // Each tile takes much less, and all of them take much more.
            let impatient = CodecRegistry.Entry.heifInProcess(timeLimit: .milliseconds(20)).decoder

            #expect(impatient.errorCode(data) == .timedOut)
            #expect(impatient.errorCode(data, options: DecodingOptions(allowsPartial: true)) == .timedOut)
            #expect(throws: Never.self) { try impatient.inspect(data, limits: DecodingLimits()) }
        }

        @Test(arguments: [SampleFile.half, .alpha, .grid])
        func `without time, nothing is decoded, and the longest time does not overflow`(file: SampleFile) throws {
            let data = try file.data()
            func decoder(_ timeLimit: Duration) -> any ImageDecoding {
                CodecRegistry.Entry.heifInProcess(timeLimit: timeLimit).decoder
            }

            #expect(decoder(.zero).errorCode(data) == .timedOut)
            #expect(decoder(.seconds(-1)).errorCode(data) == .timedOut)
            #expect(decoder(.seconds(Int64.max)).errorCode(data) == nil)
            let collector = PixelRowCollector()
            let error = #expect(throws: ImageDecodingError.self) {
                try decoder(.zero).decodeRows(data, options: DecodingOptions(), into: collector)
            }
            #expect(error?.code == .timedOut)
            #expect(collector.image == nil)
        }

        /// Returns the error of a picture with further units.
        private func errorCode(of unit: [UInt8], count: Int) throws -> ImageDecodingError.Code? {
            let picture = try CodedPicture("half.heic")
            let units = Array(repeating: HEIFBuilder.number(unit.count, 4) + unit, count: count).flatMap { $0 }
            var builder = HEIFBuilder()
            let size = HEIFBuilder.extents(picture.size)
            builder.add("hvc1", picture.payload + units, [size, picture.configuration])
            return decoder.errorCode(builder.data)
        }

        @Test func `more slices or parameter sets than the limits are refused`() throws {
            let slice: [UInt8] = [40, 1, 0]
            let parameterSet: [UInt8] = [68, 1, 0x80]

            #expect(try errorCode(of: slice, count: 600) == .exceedsLimit)
            #expect(try errorCode(of: parameterSet, count: 16) == .exceedsLimit)
        }

        @Test(arguments: [1, 16, 21])
        func `a picture that may refer to others is unsupported`(type: UInt8) throws {
            #expect(try errorCode(of: [type << 1, 1, 0], count: 1) == .unsupportedVariant)
        }

        @Test func `a unit with an invalid layer is corrupt`() throws {
            #expect(try errorCode(of: [66, 0, 0], count: 1) == .corrupt)
        }

        @Test func `the limit on pixels counts all tiles of a small image`() throws {
            var builder = HEIFBuilder()
            builder.addGrid(columns: 17, rows: 16, size: PixelSize(width: 64, height: 64))
            let tile = builder.add(try CodedPicture("gray.heic"))
            builder.refer("dimg", from: 1, to: Array(repeating: tile, count: 17 * 16))
            let data = builder.data

            #expect(decoder.errorCode(data) == nil)
            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumPixelCount: 64 * 64)) == .exceedsLimit)
        }

        @Test func `tiles that repeat much of the file are refused`() throws {
            let picture = try CodedPicture("gray.heic")
            // A unit of filler data is not decoded, but counts.
            let fillerCount = 1 << 20
            let filling = [UInt8](repeating: 0xFF, count: fillerCount - 2)
            let filler = HEIFBuilder.number(fillerCount, 4) + [76, 1] + filling
            var builder = HEIFBuilder()
            builder.addGrid(columns: 8, rows: 9, size: PixelSize(width: 512, height: 576))
            let size = HEIFBuilder.extents(picture.size)
            let tile = builder.add("hvc1", picture.payload + filler, [size, picture.configuration])
            builder.refer("dimg", from: 1, to: Array(repeating: tile, count: 72))
            let data = builder.data

            #expect(decoder.errorCode(data) == .exceedsLimit)
            // A limit is not damage that a partial image tolerates.
            let options = DecodingOptions(allowsPartial: true)
            #expect { try decoder.decode(data, options: options) } throws: {
                ($0 as? ImageDecodingError)?.code == .exceedsLimit
            }
        }

        @Test func `tiles outside the image are not decoded`() throws {
            var builder = HEIFBuilder()
            builder.addGrid(columns: 1, rows: 2, size: PixelSize(width: 64, height: 64))
            let picture = try CodedPicture("half.heic")
            let tile = builder.add(picture)
            let size = HEIFBuilder.extents(picture.size)
            let damaged = builder.add("hvc1", [0xFF], [size, picture.configuration])
            builder.refer("dimg", from: 1, to: [tile, damaged])

            let pixels = try decoder.decode(builder.data, options: DecodingOptions()).pixels

            #expect(try pixels == decoder.decode(SampleFile.half.data(), options: DecodingOptions()).pixels)
        }
    }
#endif
