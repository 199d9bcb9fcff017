#if TIFF
    import AlcedoCore
    import AlcedoTIFF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct TIFFDamageTests {
        private let decoder = TIFFDecoder()

        @Test(
            .timeLimit(.minutes(10)),
            arguments: [
                "big.tif", "deep.tif", "group3.tif", "group4.tif", "jpeg.tif", "jpeg-rgb.tif", "lzw.tif", "tiles.tif",
                "tiles-jpeg.tif",
            ], DecoderConformance.checks)
        func `the decoder passes each conformance check`(name: String, check: DecoderConformance.Check) async throws {
            let file = try Bundle.module.fixture(name)
            try await check { [decoder] _ in (decoder, file) }
        }

        @Test(.timeLimit(.minutes(10)), arguments: TIFFMaker.Layout.allCases, DecoderConformance.checks)
        func `a file whose directory comes first passes each conformance check`(
            layout: TIFFMaker.Layout, check: DecoderConformance.Check
        ) async throws {
            let file = TIFFMaker(isBigEndian: layout.isTiled, isBig: layout.isSeparate, pages: [page(layout)]).file
            try await check { [decoder] _ in (decoder, file) }
        }

        /// Returns a page of RGB with 21 x 19 pixels in strips of 4 rows, or in tiles.
        private func page(_ layout: TIFFMaker.Layout = .strips) -> TIFFMaker.Page {
            TIFFMaker.Page(
                width: 21, height: 19, samples: 3, photometric: 2, layout: layout, blockSide: layout.isTiled ? 16 : 4
            ) { x, y, k in 10 + [9 * x, 11 * y, x + y][k] }
        }

        private func isWhole(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> Bool {
            pixels.rgba(x, y) == [UInt8(10 + 9 * x), UInt8(10 + 11 * y), UInt8(10 + x + y), 255]
        }

        private func isMissing(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> Bool { pixels.rgba(x, y) == [0, 0, 0, 0] }

        private func partialImage(_ file: Data) throws -> DecodedImage {
            try decoder.decode(file, options: DecodingOptions(allowsPartial: true))
        }

        @Test func `the rows before the end of the data are shown`() throws {
            let file = TIFFMaker(pages: [page()]).file
            // The last strip has 3 rows of 63 bytes. Its last row, and two rows of the strip before, are missing.
            for (missing, rows) in [(1, 18), (63, 18), (64, 17), (3 * 63, 16), (5 * 63, 14)] {
                let part = file.dropLast(missing)
                #expect(decoder.errorCode(Data(part)) == .truncated)

                let image = try partialImage(Data(part))

                #expect(image.partialError?.code == .truncated)
                #expect(image.size == PixelSize(width: 21, height: 19))
                #expect((0..<19).allSatisfy { y in (0..<21).allSatisfy { isWhole(image.pixels, $0, y) == (y < rows) } })
                #expect((rows..<19).allSatisfy { y in (0..<21).allSatisfy { isMissing(image.pixels, $0, y) } })
            }
        }

        @Test func `rows with one missing plane are missing`() throws {
            let file = TIFFMaker(pages: [page(.planes)]).file
            let image = try partialImage(Data(file.dropLast(30)))

            #expect(image.partialError?.code == .truncated)
            #expect((0..<21).allSatisfy { isWhole(image.pixels, $0, 17) || isMissing(image.pixels, $0, 17) })
            #expect((0..<21).allSatisfy { isWhole(image.pixels, $0, 16) && isMissing(image.pixels, $0, 18) })
        }

        @Test func `a damaged strip or tile does not hide the others`() throws {
            var strips = page()
            // The second strip is in no file.
            var offsets = try strips.blocks.indices.map { try offset(ofBlock: $0, strips) }
            offsets[1] = 1 << 30
            strips.tags[273] = TIFFMaker.Values(type: 4, numbers: offsets)
            let image = try partialImage(TIFFMaker(pages: [strips]).file)
            #expect((0..<19).allSatisfy { y in isMissing(image.pixels, 5, y) == (4..<8).contains(y) })
            #expect((0..<19).allSatisfy { y in isWhole(image.pixels, 5, y) == !(4..<8).contains(y) })

            var tiles = page(.tiles)
            offsets = try tiles.blocks.indices.map { try offset(ofBlock: $0, tiles) }
            offsets[1] = 1 << 30
            tiles.tags[324] = TIFFMaker.Values(type: 4, numbers: offsets)
            let tiled = try partialImage(TIFFMaker(pages: [tiles]).file)
            forEachPixel(21, 19) { x, y, _ in
                #expect(x >= 16 && y < 16 ? isMissing(tiled.pixels, x, y) : isWhole(tiled.pixels, x, y))
            }
            #expect(decoder.errorCode(TIFFMaker(pages: [tiles]).file) == .truncated)
        }

        /// Returns the offset of a block in a file with one page.
        private func offset(ofBlock index: Int, _ page: TIFFMaker.Page) throws -> Int {
            let sizes = page.blocks.map { $0.reduce(0) { $0 + $1.count } }
            return TIFFMaker(pages: [page]).file.count - sizes[index...].reduce(0, +)
        }

        @Test func `a page without any pixels is an error, also if parts are allowed`() throws {
            var strips = page()
            strips.tags[273] = TIFFMaker.Values(type: 4, numbers: strips.blocks.map { _ in 1 << 30 })
            let file = TIFFMaker(pages: [strips]).file

            #expect(decoder.errorCode(file, options: DecodingOptions(allowsPartial: true)) == .truncated)
        }

        @Test func `a strip of compressed data is missing from its first damaged row on`() throws {
            var file = try Bundle.module.fixture("lzw.tif")
            let whole = try decoder.decode(file).pixels
            // The first strip, of 7 rows, begins after the header.
            for index in 60..<90 { file[index] = 0xFF }
            let image = try partialImage(file)
            let rows = (0..<24).filter { y in (0..<40).allSatisfy { image.pixels.rgba($0, y) == whole.rgba($0, y) } }

            #expect(image.partialError?.code == .corrupt)
            #expect(rows.suffix(17) == Array(7..<24)[...])
            #expect((0..<40).allSatisfy { isMissing(image.pixels, $0, 6) })
        }

        @Test func `wrong data of JPEG means wrong pixels`() throws {
            var file = try Bundle.module.fixture("jpeg-rgb.tif")
            let mark = try #require(file.range(of: Data([0xFF, 0xDA])))
            // A marker within the data of the scan.
            file.replaceSubrange(mark.lowerBound + 40..<mark.lowerBound + 42, with: [0xFF, 0xD7])
            let image = try decoder.decode(file)

            #expect(image.damage?.kind == .wrongPixels)
            #expect(decoder.errorCode(file, options: DecodingOptions(tolerance: .harmless)) == .corrupt)
        }

        @Test func `a damaged list of pages is harmless for the first page`() throws {
            var maker = TIFFMaker(pages: [page(), page()])
            let whole = try decoder.decode(maker.file)
            #expect(whole.damage == nil)
            maker.pageAfterLast = 0
            #expect(try TIFFPages.count(in: maker.file) == 2)
            #expect(try decoder.decode(maker.file).damage?.kind == .harmless)
            #expect(try decoder.decode(maker.file).pixels == whole.pixels)
            maker.pageAfterLast = 1
            #expect(try TIFFPages.count(in: maker.file) == 2)

            let first = TIFFMaker(pages: [page()]).file.count
            let cut = Data(TIFFMaker(pages: [page(), page()]).file.prefix(first + 5))
            #expect(try decoder.decode(cut).damage?.kind == .harmless)
            #expect(try TIFFPages.count(in: cut) == 1)
            #expect(TIFFDecoder(page: 1).errorCode(cut) == .truncated)
        }

        @Test func `many pages are found in linear time, and no more than the limit`() throws {
            let small = TIFFMaker.Page(width: 1, height: 1) { _, _, _ in 0 }
            let file = TIFFMaker(pages: Array(repeating: small, count: 2_000)).file

            #expect(try TIFFPages.count(in: file) == 2_000)
            #expect(try TIFFPages.count(in: file, limits: DecodingLimits(maximumFrameCount: 99)) == 99)
            #expect(try TIFFDecoder(page: 1_999).decode(file).size == PixelSize(width: 1, height: 1))
        }

        @Test(arguments: [false, true]) func `sizes are checked before memory is allocated`(isBig: Bool) {
            func code(_ tags: [Int: TIFFMaker.Values], _ layout: TIFFMaker.Layout = .strips) -> ImageDecodingError.Code?
            {
                var page = page(layout)
                page.tags.merge(tags) { $1 }
                return decoder.errorCode(TIFFMaker(isBig: isBig, pages: [page]).file)
            }

            #expect(code([256: .long(0xFFFF_FFFF), 257: .long(0xFFFF_FFFF)]) == .exceedsLimit)
            #expect(code([256: .long(1), 257: .long(0xFFFF_FFFF), 278: .long(1)]) == .exceedsLimit)
            #expect(code([256: .long(100_000_001), 257: .long(1)]) == .exceedsLimit)
            #expect(code([256: .long(0)]) == .corrupt)
            #expect(code([257: .long(0)]) == .corrupt)
            // Tiles that are much larger than the image.
            #expect(code([322: .long(1 << 20), 323: .long(1 << 20)], .tiles) == .exceedsLimit)
            #expect(code([322: .long(1 << 30), 323: .long(16)], .tiles) == .exceedsLimit)
            #expect(code([322: .long(16), 323: .long(1 << 27)], .tiles) == .exceedsLimit)
            #expect(code([322: .long(0)], .tiles) == .corrupt)
            #expect(code([278: .long(0)]) != nil)
        }

        @Test func `small tiles of a tall image take no more time than its pixels`() {
            // 65,536 rows of tiles, each of which would have 4,096 columns of padding.
            var page = TIFFMaker.Page(width: 1, height: 16, layout: .tiles) { _, _, _ in 0 }
            page.tags[257] = .long(1 << 20)
            page.tags[322] = .long(4_096)
            #expect(decoder.errorCode(TIFFMaker(pages: [page]).file) == .exceedsLimit)
        }

        @Test func `what no program writes is unsupported`() {
            func code(_ tags: [Int: TIFFMaker.Values]) -> ImageDecodingError.Code? {
                var page = page()
                page.tags.merge(tags) { $1 }
                return decoder.errorCode(TIFFMaker(pages: [page]).file)
            }

            #expect(code([339: .short(3, 3, 3)]) == .unsupportedVariant)
            #expect(code([339: .short(2, 2, 2)]) == .unsupportedVariant)
            #expect(code([258: .short(32, 32, 32)]) == .unsupportedVariant)
            #expect(code([262: .short(8)]) == .unsupportedVariant)
            #expect(code([262: .short(5)]) == .corrupt)
            for compression in [6, 34_661, 34_712, 34_925, 50_000, 50_001, 12_345] {
                #expect(code([259: .short(compression)]) == .unsupportedVariant)
            }
        }

        @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
        func `a raw photo of a camera is unsupported`(isBigEndian: Bool, isBig: Bool) throws {
            /// Returns a file with tags in its first directory, and the offset of its second page.
            func file(_ tags: [Int: TIFFMaker.Values], secondKind: Int = 0) -> (data: Data, second: Int) {
                var pages = [page(), page()]
                pages[0].tags.merge(tags) { $1 }
                pages[1].tags[254] = .long(secondKind)
                let first = TIFFMaker(isBigEndian: isBigEndian, isBig: isBig, pages: [pages[0]]).file
                let maker = TIFFMaker(isBigEndian: isBigEndian, isBig: isBig, pages: pages)
                return (maker.file, first.count)
            }
            func isRefused(_ data: Data) -> Bool {
                (try? TIFFPages.count(in: data)) == nil && decoder.errorCode(data) == .unsupportedVariant
            }
            // The values of the tags fit into their entries, so that the offset does not depend on them.
            func parts(of kind: Int, secondKind: Int, _ offset: (Int) -> Int = { $0 }) -> Data {
                let second = file([254: .long(kind), 330: .long(0)]).second
                return file([254: .long(kind), 330: .long(offset(second))], secondKind: secondKind).data
            }

            #expect(isRefused(file([50_706: .bytes([1, 4, 0, 0])]).data))
            #expect(isRefused(parts(of: 1, secondKind: 0)))
            // A reduced image that has another one, and a subordinate directory that is in no file.
            #expect(decoder.errorCode(parts(of: 1, secondKind: 1)) == nil)
            #expect(decoder.errorCode(parts(of: 1, secondKind: 0) { _ in 1 << 30 }) == nil)
            // Pyramids: the whole image, with reduced ones in pages or in subordinate directories.
            #expect(decoder.errorCode(parts(of: 0, secondKind: 1)) == nil)
            #expect(decoder.errorCode(file([:], secondKind: 1).data) == nil)
            let error = try #require(throws: ImageDecodingError.self) {
                try decoder.decode(file([50_706: .bytes([1, 4, 0, 0])]).data)
            }
            #expect("\(error)".contains("DNG"))
        }

        @Test func `a photo with the mark of CR2 is unsupported`() {
            // The mark lies between the header and the directory.
            var file = Data([0x49, 0x49, 42, 0, 16, 0, 0, 0] + Array("CR".utf8) + [2, 0, 0, 0, 0, 0])
            file += TIFFMaker(pages: [page()]).file.dropFirst(8)

            #expect(decoder.errorCode(file) == .unsupportedVariant)
            #expect(throws: ImageDecodingError.self) { try TIFFPages.count(in: file) }
        }

        @Test func `values that are missing are an error if pixels need them, and harmless otherwise`() throws {
            // The values of the strip offsets, of which there are 5, begin after the file.
            var file = TIFFMaker(pages: [page()]).file
            let entry = try #require(file.range(of: Data([0x11, 0x01, 4, 0, 5, 0, 0, 0])))
            file.replaceSubrange(entry.upperBound..<entry.upperBound + 4, with: [0xFF, 0xFF, 0xFF, 0x7F])
            #expect(decoder.errorCode(file) == .truncated)

            var described = page()
            described.tags[270] = .text("A description")
            file = TIFFMaker(pages: [described]).file
            let text = try #require(file.range(of: Data([0x0E, 0x01, 2, 0, 14, 0, 0, 0])))
            file.replaceSubrange(text.upperBound..<text.upperBound + 4, with: [0xFF, 0xFF, 0xFF, 0x7F])
            let image = try decoder.decode(file)
            #expect(image.damage?.kind == .harmless)
            #expect(image.damage?.error.code == .truncated)
        }

        @Test func `random bytes after a signature are an error`() {
            var random = SeededGenerator(seed: 3)
            for signature in ["II*\0", "MM\0*", "II+\0", "MM\0+"] {
                for count in 0..<200 {
                    let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                    #expect(decoder.errorCode(Data(signature.utf8) + noise) != nil)
                }
            }
        }

        @Test func `directories of EXIF that refer to each other have an end`() throws {
            var maker = TIFFMaker(pages: [page()])
            maker.pages[0].tags[271] = .text("Maker")
            // The directory of EXIF is that of the page.
            maker.pages[0].tags[34_665] = .long(8)

            let info = try decoder.inspect(maker.file)

            #expect(info.metadata.exif == nil)
            #expect(info.size == PixelSize(width: 21, height: 19))
        }

        @Test func `premultiplied parts, gray parts and parts of inks are transparent`() throws {
            for (samples, photometric) in [(1, 1), (4, 5), (2, 1)] {
                var page = TIFFMaker.Page(
                    width: 8, height: 8, samples: samples, photometric: photometric, blockSide: 2
                ) { _, _, k in k == 1 && samples == 2 ? 255 : 40 }
                if samples == 2 { page.tags[338] = .short(1) }
                let profile = ProfileMaker(space: "CMYK", deviceClass: "prtr", tags: [("A2B0", [1, 2, 3, 4])]).data
                if samples == 4 { page.tags[34_675] = .bytes(profile) }
                let file = Data(TIFFMaker(pages: [page]).file.dropLast(1))
                for (alphaMode, target) in [
                    (AlphaMode.straight, nil), (.premultiplied, TargetSize(width: 3, height: 3)),
                ] {
                    var options = DecodingOptions(
                        alphaMode: alphaMode, target: target, pixelFormat: .gray8, allowsPartial: true)
                    options.keepsInks = true
                    let image = try decoder.decode(file, options: options)

                    #expect(image.pixels.format == .rgba8)
                    #expect(image.pixels.alphaMode == alphaMode)
                    #expect(image.hasInks == (samples == 4))
                    #expect(image.pixels.rgba(0, 0) == (samples == 4 ? [215, 215, 215, 215] : [40, 40, 40, 255]))
                    let bottom = image.pixels.rgba(0, image.size.height - 1)
                    // With a target, a cell has a row that was decoded and one that was not.
                    #expect(target != nil && samples != 4 || bottom == [0, 0, 0, 0])
                }
            }
        }
    }
#endif
