#if HEIF
    import AlcedoCore
    import AlcedoHEIF
    import Foundation
    import TestSupport
    import Testing

    /// Files with a gain map of both kinds, in SDR by default and in HDR on request.
    @Suite struct HEIFGainMapTests {
        private let decoder = CodecRegistry.Entry.heifInProcess.decoder

        private enum Kind: CaseIterable, Sendable { case derived, auxiliary }

        /// A file of an image and its map, and optionally further items.
        private struct File {
            var kind = Kind.derived
            var image = "half.heic"
            var imageProperties: [[UInt8]] = []
            /// The number of columns and rows of an image that repeats its picture; nil for one picture.
            var tileCount: Int?
            var map = "gray.heic"
            var mapProperties: [[UInt8]] = []
            /// The type of the item of the map.
            var mapType = "hvc1"
            /// The coded bytes of the map, or nil for those of the picture.
            var mapPayload: [UInt8]?
            /// The payload of the derived item.
            var numbers = [0] + GainMapNumbers.binary([GainMapNumbers()])
            /// The images from which the item is derived.
            var sources = [1, 2]
            var derivedProperties: [[UInt8]] = []
            /// The packet of an auxiliary map.
            var packet: [UInt8]? = AppleGainMap.packet(headroom: "4")
            var exif: [UInt8]?
            var hasAlpha = false

            private static let auxiliary = HEIFBuilder.box(
                "auxC", [0, 0, 0, 0] + Array("urn:com:apple:photo:2020:aux:hdrgainmap".utf8) + [0])

            func data() throws -> Data {
                var builder = HEIFBuilder()
                let image = try CodedPicture(image)
                if let tileCount {
                    let size = PixelSize(width: 64 * tileCount, height: 64 * tileCount)
                    builder.addGrid(columns: tileCount, rows: tileCount, size: size, properties: imageProperties)
                } else {
                    builder.add(image, imageProperties)
                }
                let map = try CodedPicture(map)
                let kindProperties = kind == .auxiliary ? [Self.auxiliary] : []
                builder.add(
                    mapType, mapPayload ?? map.payload,
                    [HEIFBuilder.extents(map.size), map.configuration] + mapProperties + kindProperties)
                switch kind {
                case .derived:
                    let item = builder.add("tmap", numbers, [HEIFBuilder.extents(image.size)] + derivedProperties)
                    builder.refer("dimg", from: item, to: sources)
                case .auxiliary:
                    builder.refer("auxl", from: 2, to: [1])
                    if let packet { builder.refer("cdsc", from: builder.add("mime", packet), to: [2]) }
                }
                if let exif { builder.refer("cdsc", from: builder.add("Exif", [0, 0, 0, 0] + exif), to: [1]) }
                if hasAlpha {
                    let alpha = builder.add(try CodedPicture("gray.heic"), [HEIFBuilder.alpha])
                    builder.refer("auxl", from: alpha, to: [1])
                }
                if let tileCount {
                    let tiles = (0..<tileCount * tileCount).map { _ in builder.add(image) }
                    builder.refer("dimg", from: 1, to: tiles)
                }
                return builder.data
            }
        }

        private func options(
            _ range: DynamicRange = .high, _ change: (inout DecodingOptions) -> Void = { _ in }
        ) -> DecodingOptions {
            var options = DecodingOptions()
            options.dynamicRange = range
            change(&options)
            return options
        }

        /// Checks samples of an HDR image of the size of its map.
        private func check(
            _ image: DecodedImage, _ file: File, _ pq: (_ channel: Int, _ sample: Double, _ map: Double) -> Double
        ) throws {
            let standard = try decoder.decode(file.data()).pixels
            let map = try decoder.decode(fixture(file.map)).pixels
            #expect(image.damage == nil)
            #expect(image.pixels.format == .rgba16)
            #expect(image.pixels.alphaMode == .opaque)
            for (x, y) in [(0, 0), (5, 40), (31, 7), (63, 63)] {
                let samples = HDRSamples.samples(image, x, y)
                for channel in 0..<3 {
                    let (sample, gain) = (standard.rgba(x, y)[channel], map.rgba(x, y)[channel])
                    let expected = pq(channel, Double(sample), Double(gain))
                    #expect(abs(Double(samples[channel]) - expected) < 16, "\(x), \(y): \(channel)")
                }
                #expect(samples[3] == 65_535)
            }
        }

        @Test(arguments: Kind.allCases)
        private func `by default, a file with a gain map is its image`(kind: Kind) throws {
            let file = try File(kind: kind).data()
            let plain = try SampleFile.half.data()

            let image = try decoder.decode(file)

            #expect(try image.pixels == decoder.decode(plain).pixels)
            #expect(image.pixels.format == .rgba8)
            #expect(image.colorProfile == nil)
            #expect(image.damage == nil)
            let count = try decoder.decodingByteCount(file)
            #expect(try decoder.decodingByteCount(file, options: options()) > count)
            #expect(try decoder.inspect(file, limits: DecodingLimits()).bitDepth == 8)
        }

        @Test(arguments: ["gray.heic", "full.heic"])
        func `samples are those of the formula for a map from which the item is derived`(map: String) throws {
            var numbers = [GainMapNumbers(minimum: -0.5, maximum: 2.25, gamma: 0.75)]
            if map == "full.heic" {
                numbers.append(GainMapNumbers(minimum: 0, maximum: 3, baseOffset: 0, alternateOffset: 0.125))
                numbers.append(GainMapNumbers(minimum: 0.25, maximum: 0.25, gamma: 2))
            }
            let binary = GainMapNumbers.binary(flags: numbers.count == 3 ? 0xC0 : 0x40, numbers)
            let file = File(map: map, numbers: [0] + binary)

            let image = try decoder.decode(file.data(), options: options())

            #expect(image.colorProfile == ColorDescription(primaries: 1, transfer: 16)?.profile(isGray: false))
            try check(image, file) { numbers[numbers.count == 3 ? $0 : 0].pq($1, $2) }
        }

        @Test(arguments: ["4", "1", "7.5"])
        func `samples are those of Apple's formula for an auxiliary map`(headroom: String) throws {
            let file = File(kind: .auxiliary, packet: AppleGainMap.packet(headroom: headroom))

            let image = try decoder.decode(file.data(), options: options())

            #expect(image.colorProfile == ColorDescription(primaries: 1, transfer: 16)?.profile(isGray: false))
            try check(image, file) { _, sample, map in
                AppleGainMap.pq(sample, map, headroom: Double(headroom) ?? 0)
            }
        }

        @Test(arguments: [
            (500, 5, 1.7), (500, 1_000, 1.5), (1_000, 5, 2.65), (1_200, 1_000, 2.0), (500, 20_000, 0),
        ])
        func `the gain of the first version is in the maker notes`(first: Int, second: Int, stops: Double) throws {
            let packet = AppleGainMap.packet(version: "65536", headroom: nil)
            let file = File(kind: .auxiliary, packet: packet, exif: AppleGainMap.exif(first, second))

            let image = try decoder.decode(file.data(), options: options())

            try check(image, file) { AppleGainMap.pq($1, $2, headroom: pow(2, stops)) }
        }

        @Test func `of two kinds, the derived item is used`() throws {
            var builder = HEIFBuilder()
            builder.add(try CodedPicture("half.heic"))
            let name = Array("urn:com:apple:photo:2020:aux:hdrgainmap".utf8)
            builder.add(try CodedPicture("gray.heic"), [HEIFBuilder.box("auxC", [0, 0, 0, 0] + name + [0])])
            builder.refer("auxl", from: 2, to: [1])
            builder.refer("cdsc", from: builder.add("mime", AppleGainMap.packet(headroom: "8")), to: [2])
            let file = File()
            builder.refer("dimg", from: builder.add("tmap", file.numbers), to: [1, 2])
            // Phones store the numbers there.
            builder.usesItemData = true

            let image = try decoder.decode(builder.data, options: options())

            #expect(try image.pixels == decoder.decode(file.data(), options: options()).pixels)
        }

        @Test func `an image of 10 bits keeps them`() throws {
            let file = File(image: "deep.heic")

            let image = try decoder.decode(file.data(), options: options())

            let deep = try decoder.decode(fixture("deep.heic"), options: DecodingOptions(pixelFormat: .rgba16))
            for (x, y) in [(0, 0), (5, 40), (63, 63)] {
                let (stored, samples) = (HDRSamples.samples(deep, x, y), HDRSamples.samples(image, x, y))
                for channel in 0..<3 {
                    let expected = GainMapNumbers().pq(Double(stored[channel]) / 257, Double(graySample(x, y)))
                    #expect(abs(Double(samples[channel]) - expected) < 16)
                }
            }
        }

        @Test func `a smaller map is stretched over an image of tiles`() throws {
            let file = File(tileCount: 2)
            let standard = try decoder.decode(file.data()).pixels

            let image = try decoder.decode(file.data(), options: options())

            for (x, y) in [(1, 2), (70, 33), (100, 126)] {
                // The samples of the map are a linear function of their position.
                let map = 3 * ((Double(x) + 0.5) / 2 - 0.5) + ((Double(y) + 0.5) / 2 - 0.5)
                let samples = HDRSamples.samples(image, x, y)
                for channel in 0..<3 {
                    let expected = GainMapNumbers().pq(Double(standard.rgba(x, y)[channel]), map)
                    #expect(abs(Double(samples[channel]) - expected) < 16, "\(x), \(y): \(channel)")
                }
            }
        }

        @Test(arguments: Kind.allCases, [[], [HEIFBuilder.rotation(1), HEIFBuilder.mirror(0)]])
        private func `rows, pieces and the whole image are the same in each orientation`(
            kind: Kind, transforms: [[UInt8]]
        ) throws {
            let crop = HEIFBuilder.crop(width: 40, height: 30, halfX: -3, halfY: 4)
            let properties = [crop] + transforms
            let file = try File(kind: kind, imageProperties: properties, mapProperties: properties).data()

            let stored = try decoder.expectSameForms(of: file, options())

            #expect(stored.pixels.format == .rgba16)
            #expect(stored.size == PixelSize(width: 40, height: 30))
            #expect((stored.orientation == .up) == transforms.isEmpty)
        }

        @Test func `the target does not reduce an HDR image`() throws {
            let file = try File().data()
            let target = TargetSize(width: 16, height: 16)
            let sizes = try [DynamicRange.high, .standard].map { range in
                try decoder.decode(file, options: options(range) { $0.target = target }).size.width
            }
            #expect(sizes == [64, 16])
        }

        @Test func `Display P3 is kept, and the gains of other color spaces are ignored`() throws {
            func color(_ primaries: Int, _ transfer: Int) -> [UInt8] {
                HEIFBuilder.color(matrix: 6, isFullRange: true, primaries: primaries, transfer: transfer)
            }
            func decoded(_ image: [UInt8], flags: UInt8 = 0x40, derived: [[UInt8]] = []) throws -> DecodedImage {
                let numbers = [0] + GainMapNumbers.binary(flags: flags, [GainMapNumbers()])
                let file = File(imageProperties: [image], numbers: numbers, derivedProperties: derived)
                return try decoder.decode(file.data(), options: options())
            }
            let p3 = ColorDescription(primaries: 12, transfer: 16)?.profile(isGray: false)
            #expect(try decoded(color(12, 13)).colorProfile == p3)
            // A map of the color space of the HDR image, which the derived item has
            #expect(try decoded(color(12, 13), flags: 0, derived: [color(12, 16)]).colorProfile == p3)
            for image in [
                try decoded(color(12, 13), flags: 0, derived: [color(9, 16)]), try decoded(color(12, 13), flags: 0),
                try decoded(color(12, 8)), try decoded(color(9, 16)),
            ] {
                #expect(image.pixels.format == .rgba8)
                #expect(image.damage?.kind == .harmless)
                #expect(image.damage?.error.code == .unsupportedVariant)
            }
        }

        /// Changes of a file whose map then cannot be used.
        private static let changes: [(name: String, change: @Sendable (inout File) -> Void)] = [
            ("no numbers", { $0.numbers = [] }),
            ("another version of the item", { $0.numbers[0] = 1 }),
            ("another version of the numbers", { $0.numbers[2] = 1 }),
            ("numbers that end early", { $0.numbers.removeLast(9) }),
            ("a denominator of zero", { $0.numbers.replaceSubrange(10..<14, with: [0, 0, 0, 0]) }),
            (
                "an image in HDR",
                { $0.numbers = [0] + GainMapNumbers.binary(headrooms: [2, 0], [GainMapNumbers()]) }
            ),
            ("no map", { $0.sources = [1] }),
            ("a map that is the image", { $0.sources = [1, 1] }),
            ("a map that is missing", { $0.sources = [1, 77] }),
            ("three images", { $0.sources = [1, 1, 2] }),
            ("a map of another codec", { $0.mapType = "av01" }),
            ("a map that is an item without pixels", { $0.mapType = "Exif" }),
            ("a damaged map", { $0.mapPayload = [UInt8](repeating: 0xFF, count: 400) }),
            ("an empty map", { $0.mapPayload = [] }),
            ("a map that is turned", { $0.mapProperties = [HEIFBuilder.rotation(1)] }),
            (
                "a map larger than the image",
                { $0.imageProperties = [HEIFBuilder.crop(width: 20, height: 64, halfX: 0, halfY: 0)] }
            ),
            ("an image with alpha", { $0.hasAlpha = true }),
            ("no packet", { ($0.kind, $0.packet) = (.auxiliary, nil) }),
            ("a packet that is no XML", { ($0.kind, $0.packet) = (.auxiliary, [1, 2, 3]) }),
            (
                "no version", { ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(version: nil, headroom: "4")) }
            ),
            ("no gain", { ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(headroom: nil)) }),
            ("a gain below 1", { ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(headroom: "0.5")) }),
            ("a negative gain", { ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(headroom: "-2")) }),
            ("a gain that is no number", { ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(headroom: "nan")) }),
            ("a huge gain", { ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(headroom: "1e300")) }),
            (
                "one maker note",
                {
                    ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(headroom: nil))
                    $0.exif = AppleGainMap.exif(1_000, nil)
                }
            ),
            (
                "maker notes that end early",
                {
                    ($0.kind, $0.packet) = (.auxiliary, AppleGainMap.packet(headroom: nil))
                    $0.exif = AppleGainMap.exif(1_000, 1_000).dropLast(9)
                }
            ),
        ]

        @Test(arguments: changes.indices)
        func `a map that cannot be used is ignored and reported`(index: Int) throws {
            let (name, change) = Self.changes[index]
            var made = File()
            change(&made)
            let file = try made.data()
            let expected = try decoder.decode(file)

            let image = try decoder.decode(file, options: options())

            #expect(image.pixels == expected.pixels, "\(name)")
            #expect(image.colorProfile == nil)
            #expect(image.damage?.kind == .harmless)
            #expect(image.damage?.message.hasPrefix("HEIF: the gain map is ignored: ") == true)
            let collector = PixelRowCollector()
            #expect(try decoder.decodeRows(file, options: options(), into: collector)?.kind == .harmless)
            #expect(collector.image?.pixels == expected.pixels)
            #expect(expected.damage == nil)
        }

        @Test func `an image without a map is the same in both ranges`() throws {
            for sample in SampleFile.allCases {
                let file = try sample.data()
                let (standard, high) = try (decoder.decode(file), decoder.decode(file, options: options()))
                #expect(standard.pixels == high.pixels)
                #expect(standard.colorProfile == high.colorProfile)
                #expect(high.damage == nil)
            }
        }

        @Test func `an image whose HDR exceeds the limits is shown in SDR`() throws {
            let file = try File().data()
            let standard = try decoder.decode(file)
            let (standardCount, highCount) = try (
                decoder.decodingByteCount(file), decoder.decodingByteCount(file, options: options())
            )
            // The HDR image of eight bytes a pixel, and the map.
            #expect(highCount >= standardCount + 9 * 64 * 64)
            func limited(_ byteCount: Int) -> DecodingOptions {
                options { $0.limits = DecodingLimits(maximumByteCount: byteCount) }
            }
            for byteCount in [5 * 64 * 64, highCount - 1] {
                let limited = limited(byteCount)
                let image = try decoder.decode(file, options: limited)
                #expect(image.pixels == standard.pixels)
                #expect(image.damage?.kind == .harmless)
                #expect(image.damage?.error.code == .exceedsLimit)
                #expect(try decoder.decodingByteCount(file, options: limited) == standardCount)
                let collector = PixelRowCollector()
                #expect(try decoder.decodeRows(file, options: limited, into: collector)?.error.code == .exceedsLimit)
                #expect(collector.image?.pixels == standard.pixels)
            }
            #expect(try decoder.decode(file, options: limited(highCount)).pixels.format == .rgba16)
        }

        @Test func `a partial image is in SDR`() throws {
            let file = try File(tileCount: 2).data()
            let cut = Data(file.dropLast(10))

            let image = try decoder.decode(cut, options: options { $0.allowsPartial = true })

            #expect(image.partialError?.code == .truncated)
            #expect(image.pixels.format == .rgba8)
            #expect(decoder.errorCode(cut, options: options()) == .truncated)
        }

        @Test(arguments: Kind.allCases)
        private func `every prefix of a file gives SDR, HDR or an error`(kind: Kind) throws {
            let file = try File(kind: kind).data()
            for count in stride(from: 0, to: file.count, by: 7) {
                let options = options { $0.allowsPartial = true }
                guard let image = try? decoder.decode(file.prefix(count), options: options) else { continue }
                // The last item is only read, and not decoded.
                #expect(image.pixels.format == .rgba16 || image.damage != nil, "\(count)")
            }
        }

        @Test func `without time, the map is not decoded`() throws {
            let impatient = CodecRegistry.Entry.heifInProcess(timeLimit: .zero).decoder
            #expect(impatient.errorCode(try File().data(), options: options()) == .timedOut)
        }
    }
#endif
