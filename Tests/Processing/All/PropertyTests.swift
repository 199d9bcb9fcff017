import AlcedoCore
import AlcedoProcessing
import Testing

@Suite(.timeLimit(.minutes(10))) struct PropertyTests {
    @Test(arguments: AllProcessors.list.indices)
    func `straight and premultiplied pictures come out the same`(index: Int) throws {
        let processor = AllProcessors.list[index]
        for format in [PixelFormat.rgba8, .rgba16] {
            // Nearly opaque, where premultiplying loses little.
            let maximum: UInt16 = format == .rgba16 ? .max : 255
            let straight = PixelBuffer.noise(16, 11, format, .opaque, seed: 9).changed(to: .straight) { x, y, pixel in
                var pixel = pixel
                pixel.w = maximum - UInt16((x * 3 + y) % 9) * (maximum / 255)
                return pixel
            }
            let premultiplied = straight.premultiplied()

            let one = try processor.process(DecodedImage(pixels: straight)).pixels
            let other = try processor.process(DecodedImage(pixels: premultiplied)).pixels

            // The closure is linear in straight colour with a factor of 2; dodge and burn divide by what may be small.
            let steps = Self.allowedSteps(processor) * (format == .rgba16 ? 4 : 1)
            let difference = one.premultiplied().largestDifference(to: other.premultiplied())
            #expect(difference <= steps, "\(processor.identifier) \(format)")
        }
    }

    /// How much a step of the input may weigh in the output.
    private static func allowedSteps(_ processor: any ImageProcessing) -> Int {
        guard let overlay = processor as? Overlay else { return 3 }
        return overlay.mode == .colorDodge || overlay.mode == .colorBurn || overlay.mode == .hue
            || overlay.mode == .saturation ? 60 : 4
    }

    @Test(arguments: AllProcessors.list.indices)
    func `premultiplied colour is never above its alpha`(index: Int) throws {
        let processor = AllProcessors.list[index]
        for format in [PixelFormat.rgba8, .rgba16] {
            let image = DecodedImage(pixels: .noise(13, 17, format, .premultiplied, seed: 21))

            let result = try processor.process(image).pixels

            guard result.alphaMode == .premultiplied else { continue }
            for (x, y) in result.positions {
                let pixel = result.pixel(x, y)
                #expect(pixel.x <= pixel.w && pixel.y <= pixel.w && pixel.z <= pixel.w, "\(processor.identifier)")
            }
        }
    }

    @Test func `opaque results are opaque`() throws {
        for processor in AllProcessors.list {
            for (format, mode) in ResizeTests.shapes {
                let image = DecodedImage(pixels: .noise(9, 8, format, mode, seed: 5))

                let result = try processor.process(image).pixels

                #expect(mode == .opaque || format != .gray8)
                guard result.alphaMode == .opaque else { continue }
                let maximum: UInt16 = result.format == .rgba16 ? .max : 255
                #expect(
                    result.positions.allSatisfy { result.pixel($0.x, $0.y).w == maximum }, "\(processor.identifier)")
            }
        }
    }

    /// Those that treat left and right alike.
    static let symmetric: [any ImageProcessing] = [
        Resize(to: PixelSize(width: 6, height: 5), mode: .exact), Resize(width: 33, enlarges: true), Flatten(),
        Flip(.topAndBottom), Rotate(quarterTurns: 2), Circle(border: AllProcessors.line),
        RoundedCorners(CornerRadii(4.3), border: AllProcessors.line), GaussianBlur(sigma: 1.3),
        GaussianBlur(sigma: 7), ColorAdjustment(brightness: 2), BlackAndWhite(), Tint(AllProcessors.red),
    ]

    @Test(arguments: symmetric.indices)
    func `a mirrored picture gives the mirrored result`(index: Int) throws {
        let processor = Self.symmetric[index]
        // An even width, so that the middle square of a circle is in the middle.
        for (format, mode) in ResizeTests.shapes {
            let image = DecodedImage(pixels: .noise(20, 14, format, mode, seed: 6))
            for axis in Flip.Axis.allCases {
                let before = try processor.process(Flip(axis).process(image)).pixels
                let after = try Flip(axis).process(processor.process(image)).pixels

                // Sums in another order.
                #expect(before.largestDifference(to: after) <= 1, "\(processor.identifier) \(format) \(mode)")
            }
        }
    }

    /// Those that leave a picture of one opaque colour as it is, apart from its size.
    static let averaging: [any ImageProcessing] = [
        Resize(width: 5), Resize(width: 31, enlarges: true), GaussianBlur(sigma: 0.7), GaussianBlur(sigma: 4),
        GaussianBlur(sigma: 4.01), GaussianBlur(sigma: 40), GaussianBlur(sigma: 1000),
        Crop(center: PixelSize(width: 4, height: 4)), Flip(.leftAndRight),
        Rotate(clockwise: 33, background: PixelColor(red: 30, green: 30, blue: 30)),
    ]

    @Test(arguments: averaging.indices)
    func `a picture of one colour stays of one colour`(index: Int) throws {
        for (format, mode) in ResizeTests.shapes {
            let colour: UInt16 = format == .rgba16 ? 30 * 257 : 30
            let maximum: UInt16 = format == .rgba16 ? .max : 255
            let pixels = PixelBuffer.make(12, 9, format, mode) { _, _ in SIMD4(colour, colour, colour, maximum) }

            let result = try Self.averaging[index].process(DecodedImage(pixels: pixels)).pixels

            for (x, y) in result.positions { #expect(result.pixel(x, y) == SIMD4(colour, colour, colour, maximum)) }
        }
    }

    static let identities: [any ImageProcessing] = [
        Resize(to: PixelSize(width: 99, height: 99)), Crop(center: PixelSize(width: 99, height: 99)), Orient(),
        Rotate(clockwise: 0), Rotate(clockwise: -720), Rotate(quarterTurns: 8), RoundedCorners(CornerRadii(0)),
        RoundedCorners(CornerRadii(0), border: Border(width: 0, color: .black)),
        RoundedCorners(CornerRadii(0), border: Border(width: 9, color: .clear)), GaussianBlur(sigma: 0),
        GaussianBlur(sigma: 0.01), ColorAdjustment(), Tint(.clear), Tint(.clear, mode: .difference), Composition(),
        Overlay(AllProcessors.badge, opacity: 0), Overlay(AllProcessors.badge, offset: PixelOffset(x: 999, y: 0)),
        Overlay(AllProcessors.badge, offset: PixelOffset(x: .max, y: .min)),
        Composition(Flip(.leftAndRight), Flip(.leftAndRight)),
        Composition(Rotate(quarterTurns: 1), Rotate(quarterTurns: 3)),
        Composition(Rotate(clockwise: 90), Rotate(clockwise: 90), Rotate(clockwise: 180)),
    ]

    @Test(arguments: identities.indices)
    func `parameters that change nothing leave every pixel as it is`(index: Int) throws {
        for (format, mode) in ResizeTests.shapes {
            let image = DecodedImage(pixels: .noise(8, 11, format, mode, seed: 3))

            let result = try Self.identities[index].process(image)

            #expect(result.pixels == image.pixels, "\(Self.identities[index].identifier)")
        }
    }

    static let nonsense: [any ImageProcessing] = {
        let odd = [Double.nan, .infinity, -.infinity, -1, -1e300]
        var list: [any ImageProcessing] = []
        for value in odd {
            list.append(GaussianBlur(sigma: value))
            list.append(ColorAdjustment(brightness: value))
            list.append(ColorAdjustment(contrast: value))
            list.append(ColorAdjustment(saturation: value))
            list.append(RoundedCorners(CornerRadii(topRight: value)))
            list.append(RoundedCorners(CornerRadii(value, unit: .shorterSide)))
            list.append(RoundedCorners(CornerRadii(1), border: Border(width: value, color: .black)))
            list.append(Circle(border: Border(width: value, color: .black)))
            list.append(Overlay(AllProcessors.badge, opacity: value))
            list.append(Overlay(AllProcessors.badge, at: Anchor(x: 0, y: value)))
            list.append(Crop(PixelSize(width: 2, height: 2), at: Anchor(x: value, y: 0)))
            list.append(Composition(Flatten(), GaussianBlur(sigma: value)))
        }
        for value in odd.prefix(3) { list.append(Rotate(clockwise: value)) }
        list.append(GaussianBlur(sigma: 1e300))
        list.append(Overlay(AllProcessors.badge, opacity: 1.01))
        return list
    }()

    @Test(arguments: nonsense.indices)
    func `parameters that make no sense are errors, for whole pictures and for rows`(index: Int) {
        let processor = Self.nonsense[index]
        let image = DecodedImage(pixels: .pattern(.rgba8))

        #expect { try processor.process(image) } throws: {
            ($0 as? ImageProcessingError)?.code == .invalidParameter
        }
        #expect { try image.sendRows(to: processor.rows(into: PixelRowCollector())) } throws: {
            ($0 as? ImageProcessingError)?.code == .invalidParameter
        }
    }

    static let extremes: [any ImageProcessing] = [
        ColorAdjustment(brightness: 1e300, contrast: 1e300, saturation: 1e300),
        ColorAdjustment(contrast: .leastNonzeroMagnitude),
        RoundedCorners(CornerRadii(1e308)), RoundedCorners(CornerRadii(topLeft: 1e308, bottomLeft: 1e308)),
        RoundedCorners(CornerRadii(1e308, unit: .shorterSide), border: Border(width: 1e308, color: .black)),
        RoundedCorners(CornerRadii(3), border: Border(width: .leastNonzeroMagnitude, color: .black)),
        Rotate(clockwise: 1e300),
        Rotate(clockwise: .leastNonzeroMagnitude), Rotate(clockwise: -1e-13), Rotate(quarterTurns: .min),
        Rotate(quarterTurns: .max),
        GaussianBlur(sigma: GaussianBlur.maximumSigma), GaussianBlur(sigma: .leastNonzeroMagnitude),
        Circle(border: Border(width: 1000, color: AllProcessors.red)),
        Overlay(AllProcessors.badge, offset: PixelOffset(x: .min, y: .min)),
        PixelClosureProcessor(identifier: "nan") { _ in SIMD4(repeating: .nan) },
        PixelClosureProcessor(identifier: "infinite") { _ in SIMD4(.infinity, -.infinity, 1e38, .infinity) },
    ]

    @Test(arguments: extremes.indices)
    func `extreme parameters give an image`(index: Int) throws {
        for (format, mode) in ResizeTests.shapes {
            for (width, height) in RowTests.sizes.prefix(4) {
                let image = DecodedImage(pixels: .noise(width, height, format, mode, seed: 8))

                let result = try Self.extremes[index].process(image)

                #expect(result.size.isPositive, "\(Self.extremes[index].identifier)")
            }
        }
    }
}
