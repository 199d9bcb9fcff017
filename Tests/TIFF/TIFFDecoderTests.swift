#if TIFF
    import AlcedoCore
    import AlcedoTIFF
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct TIFFDecoderTests {
        private let decoder = TIFFDecoder()
        private let width = 21
        private let height = 19

        private func decode(_ maker: TIFFMaker, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(maker.file, options: options)
        }

        /// Returns the RGBA samples of an image.
        private func samples(_ image: DecodedImage) -> [Int] {
            let pixels = image.pixels
            guard pixels.format.isDeep else { return pixels.tightBytes.map(Int.init) }
            return pixels.tightBytes.withUnsafeBytes { memory in
                (0..<memory.count / 2).map { Int(memory.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self)) }
            }
        }

        /// Returns the RGBA samples of a page whose colors are `color(x, y)`.
        private func expected(_ color: (_ x: Int, _ y: Int) -> [Int]) -> [Int] {
            (0..<height).flatMap { y in (0..<width).flatMap { x in color(x, y) } }
        }

        /// Returns a sample of a page of RGB or gray.
        private func level(_ x: Int, _ y: Int, _ k: Int, bits: Int) -> Int {
            (37 * x + 11 * y + 5 * x * y + 3 * k) & (1 << bits - 1)
        }

        @Test(arguments: TIFFMaker.Layout.allCases, [1, 2, 4, 7, 8, 10, 12, 16])
        func `samples of every layout and number of bits are decoded`(layout: TIFFMaker.Layout, bits: Int) throws {
            let maximum = 1 << bits - 1
            for (samples, photometric, isBigEndian) in [(1, 1, false), (3, 2, true)] {
                let page = TIFFMaker.Page(
                    width: width, height: height, bits: bits, samples: samples, photometric: photometric,
                    layout: layout
                ) { level($0, $1, $2, bits: bits) }
                let maker = TIFFMaker(isBigEndian: isBigEndian, isBig: samples == 1, pages: [page])
                for format in [PixelFormat.rgba8, .rgba16] {
                    let image = try decode(maker, DecodingOptions(pixelFormat: format))

                    let top = image.pixels.format.isDeep ? 65_535 : 255
                    #expect(image.pixels.format == (format == .rgba16 && bits > 8 ? .rgba16 : .rgba8))
                    #expect(image.pixels.alphaMode == .opaque)
                    let right = expected { x, y in
                        (0..<3).map { k in
                            let value = level(x, y, min(k, samples - 1), bits: bits)
                            return top == 255 && bits == 16 ? value >> 8 : (value * top + maximum / 2) / maximum
                        } + [top]
                    }
                    #expect(self.samples(image) == right)
                }
            }
        }

        @Test func `gray pages are gray on request, and white can be the smallest number`() throws {
            for (photometric, bits) in [(0, 1), (1, 4), (0, 8), (1, 12), (0, 16)] {
                let maximum = 1 << bits - 1
                let page = TIFFMaker.Page(width: width, height: height, bits: bits, photometric: photometric) {
                    level($0, $1, $2, bits: bits)
                }
                let image = try decode(TIFFMaker(pages: [page]), DecodingOptions(pixelFormat: .gray16))

                #expect(image.pixels.format == (bits > 8 ? .gray16 : .gray8))
                let top = bits > 8 ? 65_535 : 255
                let right = expected { x, y in
                    let value = level(x, y, 0, bits: bits)
                    return [((photometric == 0 ? maximum - value : value) * top + maximum / 2) / maximum]
                }
                #expect(samples(image) == right)
            }
        }

        @Test(arguments: [8, 16], [1, 3]) func `alpha is straight, or divided out`(bits: Int, colors: Int) throws {
            let maximum = 1 << bits - 1
            let alpha = { (x: Int) in maximum * x / 20 }
            for (kind, layout) in [(2, TIFFMaker.Layout.strips), (1, .strips), (2, .planes), (1, .tiledPlanes)] {
                let color = { (x: Int, y: Int, k: Int) in level(x, y, k, bits: bits) }
                var page = TIFFMaker.Page(
                    width: width, height: height, bits: bits, samples: colors + 1, photometric: colors == 1 ? 1 : 2,
                    layout: layout
                ) { x, y, k in
                    guard k < colors else { return alpha(x) }
                    return kind == 2 ? color(x, y, k) : color(x, y, k) * alpha(x) / maximum
                }
                page.tags[338] = .short(kind)
                let image = try decode(TIFFMaker(pages: [page]), DecodingOptions(pixelFormat: .rgba16))

                #expect(image.pixels.alphaMode == .straight)
                let decoded = samples(image)
                forEachPixel(width, height) { x, y, index in
                    let pixel = decoded[4 * index..<4 * index + 4].map { $0 }
                    #expect(pixel[3] == alpha(x))
                    for k in 0..<3 where kind == 2 {
                        #expect(pixel[k] == color(x, y, min(k, colors - 1)))
                    }
                    guard kind == 1 else { return }
                    for k in 0..<3 {
                        let stored = color(x, y, min(k, colors - 1)) * alpha(x) / maximum
                        let divided = alpha(x) == 0 ? 0 : min(maximum, (stored * maximum + alpha(x) / 2) / alpha(x))
                        #expect(pixel[k] == divided)
                    }
                }
            }
        }

        @Test func `samples of an unknown meaning are ignored`() throws {
            for kinds in [TIFFMaker.Values.short(0), .short(0, 2)] {
                let count = kinds.numbers.count
                var page = TIFFMaker.Page(width: width, height: height, samples: 3 + count, photometric: 2) { x, _, k in
                    [9, 8, 7, 55, x][k]
                }
                page.tags[338] = kinds
                let image = try decode(TIFFMaker(pages: [page]))

                #expect(samples(image) == expected { x, _ in [9, 8, 7, count == 1 ? 255 : x] })
            }
        }

        @Test(arguments: [1, 4, 8], [1, 257]) func `palettes have 16 bits, or 8`(bits: Int, scale: Int) throws {
            var page = TIFFMaker.Page(width: width, height: height, bits: bits, photometric: 3) { x, y, _ in
                (x + y) & (1 << bits - 1)
            }
            let colors = (0..<1 << bits).map { [255 - $0, $0 / 2, 7 * $0 & 255] }
            page.tags[320] = TIFFMaker.Values(
                type: 3, numbers: (0..<3).flatMap { k in colors.map { $0[k] * scale } })
            let image = try decode(TIFFMaker(isBigEndian: bits == 4, pages: [page]))

            #expect(samples(image) == expected { x, y in colors[(x + y) & (1 << bits - 1)] + [255] })
            #expect(try decoder.inspect(TIFFMaker(pages: [page]).file).colorModel == .palette)
        }

        @Test func `inks become RGB by a formula, or are kept for a converter`() throws {
            let ink = { (x: Int, y: Int, k: Int) in level(x, y, 5 * k, bits: 8) }
            for layout in TIFFMaker.Layout.allCases {
                var page = TIFFMaker.Page(
                    width: width, height: height, samples: 4, photometric: 5, layout: layout, ink)
                let image = try decode(TIFFMaker(pages: [page]))
                let right = expected { x, y in
                    (0..<3).map { ((255 - ink(x, y, $0)) * (255 - ink(x, y, 3)) + 127) / 255 } + [255]
                }
                #expect(samples(image) == right)
                #expect(image.colorProfile == nil)

                let profile = ProfileMaker(space: "CMYK", deviceClass: "prtr", tags: [("A2B0", [1, 2, 3, 4])]).data
                page.tags[34_675] = .bytes(profile)
                var options = DecodingOptions(pixelFormat: .rgba16)
                #expect(try samples(decode(TIFFMaker(pages: [page]), options)) == right)
                options.keepsInks = true
                let kept = try decode(TIFFMaker(pages: [page]), options)
                #expect(kept.hasInks)
                #expect(kept.colorProfile == profile)
                #expect(samples(kept) == expected { x, y in (0..<4).map { 255 - ink(x, y, $0) } })
            }
        }

        @Test(arguments: [(2, 2), (2, 1), (4, 4), (1, 2)], [TIFFMaker.Layout.strips, .tiles])
        func `subsampled color is that of its unit`(units: (Int, Int), layout: TIFFMaker.Layout) throws {
            let (across, down) = units
            // The units of a block, row by row: luminance, and then the two color differences, here in bytes.
            let luma = { (x: Int, y: Int) in 60 + 4 * x + 2 * y }
            let (blue, red) = ({ (x: Int) in 100 + 3 * x }, { (y: Int) in 140 - 2 * y })
            func unit(_ x: Int, _ y: Int) -> [Int] {
                (0..<down).flatMap { j in (0..<across).map { luma(x + $0, y + j) } } + [
                    blue(x / across), red(y / down),
                ]
            }
            func block(left: Int, top: Int, width: Int, height: Int) -> [[Int]] {
                stride(from: top, to: top + height, by: down).map { y in
                    stride(from: left, to: left + width, by: across).flatMap { unit($0, y) }
                }
            }
            var page = TIFFMaker.Page(width: width, height: height, samples: 3, photometric: 6, layout: layout) {
                _, _, _ in 0
            }
            page.tags[530] = .short(across, down)
            page.blocks = [0, 16].flatMap { top in
                layout.isTiled
                    ? [0, 16].map { block(left: $0, top: top, width: 16, height: 16) }
                    : [block(left: 0, top: top, width: width, height: min(16, height - top))]
            }
            let decoded = try samples(decode(TIFFMaker(pages: [page])))

            forEachPixel(width, height) { x, y, index in
                let (l, cb, cr) = (Double(luma(x, y)), Double(blue(x / across) - 128), Double(red(y / down) - 128))
                // ITU-R BT.601, which is the default.
                let color = [l + 1.402 * cr, l - 0.344_136 * cb - 0.714_136 * cr, l + 1.772 * cb]
                for k in 0..<3 {
                    #expect(abs(Double(decoded[4 * index + k]) - min(max(color[k], 0), 255)) <= 1.5)
                }
                #expect(decoded[4 * index + 3] == 255)
            }
        }

        @Test(arguments: [
            "lzw.tif", "deflate.tif", "tiles.tif", "big.tif", "jpeg.tif", "jpeg-rgb.tif", "tiles-jpeg.tif", "cmyk.tif",
            "packbits.tif", "group3.tif", "group4.tif",
        ])
        func `files of other programs have their pixels`(name: String) throws {
            let file = try Bundle.module.fixture(name)
            let image = try decoder.decode(file)
            let pixels = image.pixels.tightBytes.map(Int.init)

            #expect(image.size == PixelSize(width: 40, height: 24))
            #expect(image.damage == nil)
            let reference =
                name.contains("jpeg")
                ? try [UInt8](Bundle.module.fixture(name.replacing(".tif", with: ".rgb"))).map(Int.init) : nil
            forEachPixel(40, 24) { x, y, index in
                let color: [Int] =
                    switch name {
                    case "cmyk.tif":
                        (0..<3).map { k in
                            ((255 - fixtureColor(x, y, k)) * (255 - fixtureColor(x, y, 3)) + 127) / 255
                        } + [255]
                    case "packbits.tif":
                        [16, -16, 8].map { ($0 < 0 ? 255 : 0) + $0 * ((x + y) % 16) } + [255]
                    case "group3.tif", "group4.tif": Array(repeating: x * y % 3 == 0 ? 255 : 0, count: 3) + [255]
                    default:
                        (0..<3).map { fixtureColor(x, y, $0) }
                            + [name == "deflate.tif" ? fixtureColor(x, y, 3) : 255]
                    }
                if let reference {
                    // Other versions of libjpeg round differently.
                    for k in 0..<3 { #expect(abs(pixels[4 * index + k] - reference[3 * index + k]) <= 2) }
                } else {
                    #expect(Array(pixels[4 * index..<4 * index + 4]) == color, "\(x), \(y)")
                }
            }
        }

        @Test func `sixteen bits are decoded in full on request`() throws {
            let file = try Bundle.module.fixture("deep.tif")
            let image = try decoder.decode(file, options: DecodingOptions(pixelFormat: .rgba16))

            let decoded = samples(image)
            forEachPixel(40, 24) { x, y, index in
                #expect(decoded[4 * index..<4 * index + 3].map { $0 } == (0..<3).map { 257 * fixtureColor(x, y, $0) })
            }
            #expect(try decoder.inspect(file).bitDepth == 16)
        }

        @Test func `rows, reduced rows and pieces equal the image`() throws {
            for name in ["lzw.tif", "deflate.tif", "deep.tif", "tiles-jpeg.tif", "group4.tif", "cmyk.tif", "pages.tif"]
            {
                let file = try Bundle.module.fixture(name)
                try DecoderChecks(decoder).checkRows(file)
                try DecoderChecks(decoder).checkPieces(file, knowsInfoEarly: false)
                #expect(try decoder.parseCounts(file) == [1, 1])
            }
        }

        @Test(arguments: 1...8) func `the orientation is applied`(value: Int) throws {
            var page = TIFFMaker.Page(width: width, height: height, samples: 3, photometric: 2, layout: .tiles) {
                [$0, $1, 0][$2]
            }
            page.tags[274] = .short(value)
            let file = TIFFMaker(pages: [page]).file
            let stored = try decoder.decode(file, options: DecodingOptions(appliesOrientation: false))
            let orientation = try #require(ImageOrientation(rawValue: value))

            #expect(stored.orientation == orientation)
            #expect(stored.pixels.rgba(3, 2) == [3, 2, 0, 255])
            #expect(try decoder.decode(file).pixels == stored.pixels.upright(from: orientation))
            try DecoderChecks(decoder).checkRows(file)
        }

        @Test func `a page is selected by its index, and reduced images are not counted`() throws {
            func page(_ level: Int, _ kind: Int? = nil) -> TIFFMaker.Page {
                var page = TIFFMaker.Page(width: level, height: 2) { _, _, _ in level }
                page.tags[254] = kind.map { .long($0) }
                return page
            }
            for isBig in [false, true] {
                let file = TIFFMaker(
                    isBigEndian: isBig, isBig: isBig, pages: [page(1, 1), page(2), page(3, 4), page(4, 2), page(5)]
                ).file

                #expect(try TIFFPages.count(in: file) == 3)
                #expect(try TIFFDecoder().inspect(file).pageCount == 3)
                #expect(try TIFFDecoder().inspect(file).frameCount == 1)
                for (index, level) in [2, 4, 5].enumerated() {
                    let image = try CodecRegistry([.tiff(page: index)]).decode(file)
                    #expect(image.size.width == level)
                    #expect(image.pixels.rgba(0, 0)[0] == UInt8(level))
                    #expect(image.frames == nil)
                }
                #expect(TIFFDecoder(page: 3).errorCode(file) == .unsupportedVariant)
                #expect(TIFFDecoder(page: -1).errorCode(file) == .unsupportedVariant)
                #expect(try TIFFPages.count(in: file, limits: DecodingLimits(maximumFrameCount: 2)) == 1)
            }
            #expect(try TIFFPages.count(in: TIFFMaker(pages: [page(1, 1), page(2, 1)]).file) == 2)
            #expect(try TIFFPages.count(in: Bundle.module.fixture("pages.tif")) == 3)
            #expect(throws: ImageDecodingError.self) { try TIFFPages.count(in: Data("II*".utf8)) }
        }

        @Test func `metadata is read`() throws {
            let profile = ProfileMaker(
                tags: ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"].map { ($0, [1, 2, 3, 4]) }
            ).data
            let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
            let iptc: [UInt8] = [0x1C, 2, 80, 0, 3, 65, 66, 67]
            var page = TIFFMaker.Page(width: 4, height: 3, samples: 3, photometric: 2) { _, _, _ in 0 }
            page.tags[34_675] = .bytes(profile)
            page.tags[700] = .bytes(xmp)
            page.tags[33_723] = .bytes(iptc)
            page.tags[282] = .rational(600, 2)
            page.tags[283] = .rational(150, 1)
            page.tags[296] = .short(2)
            page.tags[274] = .short(6)
            page.tags[271] = .text("Maker")
            page.tags[33_432] = .text("Mine")
            for isBigEndian in [false, true] {
                let info = try decoder.inspect(TIFFMaker(isBigEndian: isBigEndian, pages: [page]).file)

                #expect(info.metadata.colorProfile == profile)
                #expect(info.metadata.xmp == xmp)
                #expect(info.metadata.iptc == Data(iptc))
                #expect(info.metadata.resolution == ImageResolution(horizontal: 300, vertical: 150))
                let exif = try #require(info.metadata.exif)
                #expect(exif.range(of: Data("Maker\0".utf8)) != nil)
                #expect(exif.range(of: Data("Mine\0".utf8)) != nil)
                exif.withUnsafeBytes { exif in
                    let orientation = ImageOrientation(exif: exif.bytes)
                    let resolution = ImageResolution(exif: exif.bytes)
                    let isReadable = ImageMetadata.isReadable(exif: exif.bytes)
                    #expect(orientation == .right)
                    #expect(resolution == ImageResolution(horizontal: 300, vertical: 150))
                    #expect(isReadable)
                }
                #expect(info.metadataDamage == nil)
            }
            page.tags[296] = .short(3)
            let metric = try decoder.inspect(TIFFMaker(isBig: true, pages: [page]).file)
            #expect(metric.metadata.resolution == ImageResolution(horizontal: 762, vertical: 381))
            #expect(metric.metadata.exif == nil)
            let small = DecodingLimits(maximumMetadataByteCount: 20)
            let limited = try decoder.inspect(TIFFMaker(pages: [page]).file, limits: small).metadata
            #expect(limited.colorProfile == nil && limited.hasIgnoredColorProfile)
            #expect(limited.xmp == nil && limited.exif == nil)
            #expect(limited.iptc == Data(iptc))
        }

        @Test func `directories of EXIF are copied`() throws {
            var page = TIFFMaker.Page(width: 4, height: 3) { _, _, _ in 0 }
            page.tags[34_665] = .long(0)
            for isBigEndian in [false, true] {
                var maker = TIFFMaker(isBigEndian: isBigEndian, pages: [page])
                let start = maker.file.count + maker.file.count % 2
                maker.pages[0].tags[34_665] = .long(start)
                var file = maker.file + Data(count: maker.file.count % 2)
                // The date of the original, and an exposure of 1/60 s.
                let date = Array("2026:11:30 12:00:00\0".utf8)
                let values = start + 2 + 24 + 4
                file += maker.number(2, 2)
                file += maker.number(0x829A, 2) + maker.number(5, 2) + maker.number(1, 4) + maker.number(values, 4)
                file += maker.number(0x9003, 2) + maker.number(2, 2) + maker.number(20, 4) + maker.number(values + 8, 4)
                file += maker.number(0, 4) + maker.number(1, 4) + maker.number(60, 4) + date

                let exif = try #require(try decoder.inspect(file).metadata.exif)

                #expect(exif.range(of: Data(date)) != nil)
                #expect(exif.range(of: Data(maker.number(1, 4) + maker.number(60, 4))) != nil)
                #expect(exif.count < 120)
            }
        }

        @Test func `the format is recognized by its byte order and its number`() throws {
            let registry = CodecRegistry([.tiff])
            let page = TIFFMaker.Page(width: 2, height: 2) { _, _, _ in 9 }
            for isBig in [false, true] {
                for isBigEndian in [false, true] {
                    let file = TIFFMaker(isBigEndian: isBigEndian, isBig: isBig, pages: [page]).file
                    #expect(try registry.decode(file).format == .tiff)
                }
            }
            #expect(ImageFormat.tiff.mediaType == "image/tiff")
            #expect(registry.errorCode(Data("IIRO\u{8}\0\0\0".utf8)) == .unknownFormat)
        }

        @Test func `inspection describes the page`() throws {
            func info(_ page: TIFFMaker.Page) throws -> ImageInfo { try decoder.inspect(TIFFMaker(pages: [page]).file) }
            let gray = try info(TIFFMaker.Page(width: 5, height: 4, bits: 12) { _, _, _ in 0 })
            #expect(gray.colorModel == .gray && gray.bitDepth == 12 && !gray.hasAlpha && gray.frameCount == 1)
            var page = TIFFMaker.Page(width: 5, height: 4, samples: 2) { _, _, _ in 0 }
            page.tags[338] = .short(2)
            #expect(try info(page).colorModel == .grayAlpha)
            #expect(try decoder.inspect(Bundle.module.fixture("jpeg.tif")).colorModel == .yCbCr)
            #expect(try decoder.inspect(Bundle.module.fixture("cmyk.tif")).colorModel == .cmyk)
            #expect(try decoder.inspect(Bundle.module.fixture("deflate.tif")).colorModel == .rgba)
            #expect(
                try decoder.inspect(Bundle.module.fixture("lzw.tif")).metadata.resolution
                    == ImageResolution(horizontal: 300, vertical: 150))
        }
    }
#endif
