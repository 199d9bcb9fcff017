import AlcedoCore
import AlcedoProcessing
import Testing

@Suite(.timeLimit(.minutes(10))) struct PropertyTests {
    @Test(arguments: AllProcessors.list.indices)
    func `straight and premultiplied images give the same result`(index: Int) throws {
        let processor = AllProcessors.list[index]
        for format in [PixelFormat.rgba8, .rgba16] {
            // Nearly opaque, where premultiplying loses little.
            let maximum: UInt16 = format.isDeep ? .max : 255
            let straight = PixelBuffer.noise(16, 11, format, .opaque, seed: 9).changed(to: .straight) { x, y, pixel in
                var pixel = pixel
                pixel.w = maximum - UInt16((x * 3 + y) % 9) * (maximum / 255)
                return pixel
            }
            let premultiplied = straight.converted(to: .premultiplied)

            let one = try processor.process(DecodedImage(pixels: straight)).pixels
            let other = try processor.process(DecodedImage(pixels: premultiplied)).pixels

            // The closure is linear in straight color with a factor of 2, and dodge and burn divide by possibly small
            // numbers.
            let steps = Self.allowedSteps(processor) * (format.isDeep ? 4 : 1)
            let difference = one.converted(to: .premultiplied).largestDifference(
                to: other.converted(to: .premultiplied))
            #expect(difference <= steps, "\(processor.identifier) \(format)")
        }
    }

    /// Returns how much a step of the input may change the output.
    private static func allowedSteps(_ processor: any ImageProcessing) -> Int {
        switch processor.unwrapped {
        case is ImageProcessors.Normalize, is ImageProcessors.Sharpen: return 6
        // One step makes a black pixel white.
        case is ImageProcessors.Threshold: return 1 << 16
        default: break
        }
        guard let overlays = processor.unwrapped as? ImageProcessors.Overlays else { return 3 }
        let dividing: Set<ImageProcessors.BlendMode> = [.colorDodge, .colorBurn, .hue, .saturation]
        return overlays.overlays.contains { dividing.contains($0.mode) } ? 60 : 4
    }

    @Test func `every processor supports images of every format`() throws {
        for processor in AllProcessors.list {
            for (format, mode) in ResizeTests.shapes {
                for (width, height) in [(1, 1), (1, 6), (9, 1), (2, 3), (16, 11), (23, 30)] {
                    let image = DecodedImage(pixels: .noise(width, height, format, mode, seed: 5))
                    #expect(throws: Never.self, "\(processor.identifier)") { try processor.process(image) }
                }
            }
        }
    }

    /// The processors that treat left and right alike.
    static let symmetric: [any ImageProcessing] = [
        .resize(exactly: PixelSize(width: 6, height: 5)), .resize(width: 33, enlarges: true), .flatten(),
        .flip(.topAndBottom), ImageProcessors.Rotate(clockwise: 180), .circle(border: AllProcessors.line),
        .roundedCorners(radius: 4.3, border: AllProcessors.line), .blur(sigma: 1.3),
        .resize(covering: PixelSize(width: 8, height: 8)), .extend(by: 3, with: .mirror),
        .extend(top: 1, left: 2, bottom: 1, right: 2, with: .edge), .trim(.black, tolerance: 140),
        .blur(sigma: 7), .adjust(brightness: 2), .grayscale, .tint(AllProcessors.red), .negate(), .threshold(90),
        .normalize(), .median(size: 5), .sharpen(sigma: 1), .sharpen(sigma: 6),
    ]

    @Test(arguments: symmetric.indices)
    func `a mirrored image gives the mirrored result`(index: Int) throws {
        let processor = Self.symmetric[index]
        // An even width, so that the middle square of a circle is centered.
        for (format, mode) in ResizeTests.shapes {
            let image = DecodedImage(pixels: .noise(20, 14, format, mode, seed: 6))
            for axis in ImageProcessors.FlipAxis.allCases {
                let before = try processor.process(ImageProcessors.Flip(axis).process(image)).pixels
                let after = try ImageProcessors.Flip(axis).process(processor.process(image)).pixels

                // Sums in another order.
                #expect(before.largestDifference(to: after) <= 1, "\(processor.identifier) \(format) \(mode)")
            }
        }
    }

    /// The processors that keep a uniform opaque image except for its size.
    static let averaging: [any ImageProcessing] = [
        .resize(width: 5), .resize(width: 31, enlarges: true), .blur(sigma: 0.7), .blur(sigma: 4),
        .blur(sigma: 4.01), .blur(sigma: 40), .blur(sigma: 1000), .median(), .median(size: 99),
        .sharpen(sigma: 0.7), .sharpen(sigma: 6, flat: 20, jagged: 30), .normalize(),
        .resize(covering: PixelSize(width: 5, height: 5), at: .focus(x: 0.7, y: 0)), .extend(by: 2, with: .edge),
        .extend(left: 30, with: .mirror), .extend(by: 2, with: .color(PixelColor(red: 30, green: 30, blue: 30))),
        .trim(),
        .crop(to: PixelSize(width: 4, height: 4)), .flip(.leftAndRight),
        .rotate(clockwise: 33, background: PixelColor(red: 30, green: 30, blue: 30)),
    ]

    @Test(arguments: averaging.indices)
    func `a uniform image stays uniform`(index: Int) throws {
        for (format, mode) in ResizeTests.shapes {
            let color: UInt16 = format.isDeep ? 30 * 257 : 30
            let maximum: UInt16 = format.isDeep ? .max : 255
            let pixels = PixelBuffer.make(12, 9, format, mode) { _, _ in SIMD4(color, color, color, maximum) }

            let result = try Self.averaging[index].process(DecodedImage(pixels: pixels)).pixels

            for (x, y) in result.positions { #expect(result.pixel(x, y) == SIMD4(color, color, color, maximum)) }
        }
    }

    static let identities: [any ImageProcessing] = [
        .resize(fitting: PixelSize(width: 99, height: 99)), .crop(to: PixelSize(width: 99, height: 99)), .orient,
        .rotate(clockwise: 0), .rotate(clockwise: -720), ImageProcessors.Rotate(clockwise: 720),
        .resize(covering: PixelSize(width: 99, height: 99), at: .top), .extend(), .extend(by: 0, with: .mirror),
        .extend(to: PixelSize(width: 8, height: 1)), .trim(tolerance: 255),
        .roundedCorners(radius: 0),
        .roundedCorners(radius: 0, border: ImageProcessors.Border(width: 0, color: .black)),
        .roundedCorners(radius: 0, border: ImageProcessors.Border(width: 9, color: .clear)), .blur(sigma: 0),
        .blur(sigma: 0.01), .adjust(), .tint(.clear), .tint(.clear, mode: .difference), .composition([]),
        .gamma(1), .median(size: 1), .sharpen(sigma: 0.1), .sharpen(sigma: 1, flat: 0, jagged: 0),
        .sharpen(sigma: 1, brightening: 0, darkening: 0), .composition([.negate(), .negate()]),
        .overlay(AllProcessors.badge, opacity: 0), .overlay(AllProcessors.badge, x: 999),
        .overlay(AllProcessors.badge, x: .max, y: .min), .overlay([]),
        .overlay(AllProcessors.badge, x: -99, scale: .share(1), compositing: .destinationOut),
        .overlay(AllProcessors.badge, isTiled: true, compositing: .add, opacity: 0),
        .composition([.flip(.leftAndRight), .flip(.leftAndRight)]),
        .composition([ImageProcessors.Rotate(clockwise: 90), ImageProcessors.Rotate(clockwise: 270)]),
        .composition([.rotate(clockwise: 90), .rotate(clockwise: 90), .rotate(clockwise: 180)]),
    ]

    @Test(arguments: identities.indices)
    func `neutral parameters change no pixel`(index: Int) throws {
        for (format, mode) in ResizeTests.shapes {
            let image = DecodedImage(pixels: .noise(8, 11, format, mode, seed: 3))

            let result = try Self.identities[index].process(image)

            #expect(result.pixels == image.pixels, "\(Self.identities[index].identifier)")
        }
    }

    /// Processors that treat every format alike.
    static let tonal: [any ImageProcessing] = [
        .negate(), .negate(includesAlpha: true), .threshold(90, perChannel: true), .gamma(1.8),
        .normalize(lower: 2, upper: 90), .median(size: 5), .sharpen(sigma: 0.7), .sharpen(sigma: 5, flat: 0, jagged: 3),
    ]

    @Test(arguments: tonal.indices)
    func `images of 8 and of 16 bits give the same result`(index: Int) throws {
        for (format, deep, mode) in [
            (PixelFormat.gray8, PixelFormat.gray16, AlphaMode.opaque), (.rgba8, .rgba16, .opaque),
            (.rgba8, .rgba16, .straight),
        ] {
            let pixels = PixelBuffer.noise(19, 13, format, mode, seed: 21)
            let widened = PixelBuffer.make(19, 13, deep, mode) { pixels.pixel($0, $1) &* 257 }

            let one = try Self.tonal[index].process(DecodedImage(pixels: pixels)).pixels
            let other = try Self.tonal[index].process(DecodedImage(pixels: widened)).pixels

            for (x, y) in one.positions {
                for channel in 0..<4 {
                    // Each result is rounded, and so is the luminance of the percentiles.
                    let difference = Double(one.pixel(x, y)[channel]) - Double(other.pixel(x, y)[channel]) / 257
                    #expect(abs(difference) <= 2, "\(Self.tonal[index].identifier) \(format) \(mode)")
                }
            }
        }
    }

    @Test(arguments: tonal.indices)
    func `gray images and color images of equal channels give the same result`(index: Int) throws {
        for (format, colored) in [(PixelFormat.gray8, PixelFormat.rgbx8), (.gray16, .rgba16)] {
            let pixels = PixelBuffer.noise(19, 13, format, .opaque, seed: 22)
            let color = PixelBuffer.make(19, 13, colored, .opaque) { pixels.pixel($0, $1) }

            let one = try Self.tonal[index].process(DecodedImage(pixels: pixels)).pixels
            let other = try Self.tonal[index].process(DecodedImage(pixels: color)).pixels

            for (x, y) in one.positions {
                for channel in 0..<4 {
                    // Samples of gray and of color are converted to floats by other instructions.
                    let difference = Int(one.pixel(x, y)[channel]) - Int(other.pixel(x, y)[channel])
                    #expect(abs(difference) <= 1, "\(Self.tonal[index].identifier) \(format)")
                }
            }
        }
    }

    static let nonsense: [any ImageProcessing] = {
        let odd = [Double.nan, .infinity, -.infinity, -1, -1e300]
        var list: [any ImageProcessing] = []
        for value in odd {
            list.append(.blur(sigma: value))
            list.append(.adjust(brightness: value))
            list.append(.adjust(contrast: value))
            list.append(.adjust(saturation: value))
            list.append(.roundedCorners(CornerRadii(topRight: value)))
            list.append(.roundedCorners(CornerRadii(value, unit: .shorterSide)))
            list.append(.roundedCorners(radius: 1, border: ImageProcessors.Border(width: value, color: .black)))
            list.append(.circle(border: ImageProcessors.Border(width: value, color: .black)))
            list.append(.overlay(AllProcessors.badge, opacity: value))
            list.append(.overlay(AllProcessors.badge, at: .at(x: 0, y: value)))
            list.append(.overlay(AllProcessors.badge, scale: .factor(value)))
            list.append(.overlay(AllProcessors.badge, scale: .share(value), isTiled: true))
            list.append(.overlay([.init(AllProcessors.badge), .init(AllProcessors.badge, opacity: value)]))
            list.append(.crop(to: PixelSize(width: 2, height: 2), at: .at(x: value, y: 0)))
            list.append(.crop(to: PixelSize(width: 2, height: 2), at: .focus(x: 0.5, y: value)))
            list.append(.resize(covering: PixelSize(width: 2, height: 2), at: .focus(x: value, y: 0.5)))
            list.append(.resize(containedIn: PixelSize(width: 2, height: 2), at: .at(x: value, y: 0.5)))
            list.append(.composition([.flatten(), .blur(sigma: value)]))
            list.append(.gamma(value))
            list.append(.normalize(lower: value))
            list.append(.normalize(upper: value))
            list.append(.sharpen(sigma: value))
            list.append(.sharpen(sigma: 1, flat: value))
            list.append(.sharpen(sigma: 1, jagged: value))
            list.append(.sharpen(sigma: 1, threshold: value))
            list.append(.sharpen(sigma: 1, brightening: value))
            list.append(.sharpen(sigma: 1, darkening: value))
        }
        for value in odd.prefix(3) { list.append(.rotate(clockwise: value)) }
        for value in [-1, Int.min] {
            list.append(.extend(top: value))
            list.append(.extend(by: value, with: .mirror))
            list.append(.extend(to: PixelSize(width: 5, height: value)))
            list.append(.trim(tolerance: value))
            list.append(.threshold(value))
            list.append(.median(size: value))
            list.append(.resize(covering: PixelSize(width: value, height: 5)))
            list.append(.resize(containedIn: PixelSize(width: 5, height: value)))
        }
        for size in [0, 2, 98, 101, Int.max] { list.append(.median(size: size)) }
        list += [.threshold(256), .gamma(0), .gamma(1001), .normalize(lower: 50, upper: 50), .sharpen(sigma: 10.01)]
        list.append(.trim(tolerance: 256))
        list.append(.blur(sigma: 1e300))
        list.append(.overlay(AllProcessors.badge, opacity: 1.01))
        list.append(.overlay(AllProcessors.badge, scale: .factor(0)))
        list.append(.overlay(AllProcessors.badge, scale: .share(1.01)))
        list.append(.overlay(AllProcessors.badge, at: .smart))
        return list
    }()

    @Test(arguments: nonsense.indices)
    func `invalid parameters are errors, for whole images and for rows`(index: Int) {
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
        .adjust(brightness: 1e300, contrast: 1e300, saturation: 1e300),
        .adjust(contrast: .leastNonzeroMagnitude),
        .roundedCorners(radius: 1e308), .roundedCorners(CornerRadii(topLeft: 1e308, bottomLeft: 1e308)),
        .roundedCorners(
            CornerRadii(1e308, unit: .shorterSide), border: ImageProcessors.Border(width: 1e308, color: .black)),
        .roundedCorners(radius: 3, border: ImageProcessors.Border(width: .leastNonzeroMagnitude, color: .black)),
        .rotate(clockwise: 1e300),
        .rotate(clockwise: .leastNonzeroMagnitude), .rotate(clockwise: -1e-13),
        ImageProcessors.Rotate(clockwise: Double(Int.min) * 90),
        ImageProcessors.Rotate(clockwise: Double(Int.max) * 90),
        .blur(sigma: ImageProcessors.GaussianBlur.maximumSigma), .blur(sigma: .leastNonzeroMagnitude),
        .gamma(1e-6), .gamma(1000), .threshold(0), .normalize(lower: 99.999, upper: 100), .median(size: 99),
        .sharpen(sigma: 10, flat: 1e6, jagged: 1e6, threshold: 0, brightening: 1e6, darkening: 1e6),
        .circle(border: ImageProcessors.Border(width: 1000, color: AllProcessors.red)),
        .overlay(AllProcessors.badge, x: .min, y: .min),
        .overlay(AllProcessors.badge, x: .min, y: .max, isTiled: true),
        .overlay(AllProcessors.badge, x: .max, scale: .factor(.leastNonzeroMagnitude), isTiled: true),
        .overlay(AllProcessors.badge, x: .max, compositing: .sourceIn),
        .overlay(AllProcessors.badge, scale: .factor(3_000)),
        .overlay(AllProcessors.badge, scale: .share(.leastNonzeroMagnitude), compositing: .destinationAtop),
        .pixelClosure(identifier: "nan") { _ in SIMD4(repeating: .nan) },
        .pixelClosure(identifier: "infinite") { _ in SIMD4(.infinity, -.infinity, 1e38, .infinity) },
    ]

    @Test(arguments: extremes.indices)
    func `extreme parameters give an image`(index: Int) throws {
        for (format, mode) in ResizeTests.shapes {
            for (width, height) in [(1, 1), (1, 6), (9, 1), (2, 3)] {
                let image = DecodedImage(pixels: .noise(width, height, format, mode, seed: 8))

                let result = try Self.extremes[index].process(image)

                #expect(result.size.isPositive, "\(Self.extremes[index].identifier)")
            }
        }
    }
}
