#if AVIF
    import AlcedoAVIF
    import AlcedoCore
    import Foundation
    import TestSupport

    /// Returns straight or opaque RGBA8 pixels that all differ.
    func samplePixels(_ size: PixelSize, alpha: Bool = false) throws -> PixelBuffer {
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: alpha ? .straight : .opaque) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let pixel = [x * 7 + y, y * 5, 255 - x * 3, alpha ? 255 - (x + y) % 200 : 255]
                    for (channel, value) in pixel.enumerated() {
                        memory[y * stride + 4 * x + channel] = UInt8(truncatingIfNeeded: value)
                    }
                }
            }
        }
        guard let pixels else { throw CocoaError(.fileReadUnknown) }
        return pixels
    }

    /// Returns opaque RGBA8 pixels that change slowly.
    func smoothPixels(_ size: PixelSize) throws -> PixelBuffer {
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    for (channel, value) in [x * 2, y * 3, 128 + (x - y) / 2, 255].enumerated() {
                        memory[y * stride + 4 * x + channel] = UInt8(truncatingIfNeeded: value)
                    }
                }
            }
        }
        guard let pixels else { throw CocoaError(.fileReadUnknown) }
        return pixels
    }

    /// Returns the part of RGBA8 pixels.
    func cropped(_ pixels: PixelBuffer, x: Int, y: Int, width: Int, height: Int) throws -> PixelBuffer {
        let size = PixelSize(width: width, height: height)
        let part = PixelBuffer(size: size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, stride in
            pixels.withUnsafeBytes { source in
                for row in 0..<height {
                    let start = (y + row) * pixels.bytesPerRow + 4 * x
                    UnsafeMutableRawBufferPointer(rebasing: memory[(row * stride)...]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: source[start..<start + 4 * width]))
                }
            }
        }
        guard let part else { throw CocoaError(.fileReadUnknown) }
        return part
    }

    /// Returns the alpha of RGBA8 pixels as gray pixels.
    func alphaPixels(_ pixels: PixelBuffer) throws -> PixelBuffer {
        let alpha = PixelBuffer(size: pixels.size, format: .gray8, alphaMode: .opaque) { memory, stride in
            for y in 0..<pixels.height {
                for x in 0..<pixels.size.width { memory[y * stride + x] = pixels.rgba(x, y)[3] }
            }
        }
        guard let alpha else { throw CocoaError(.fileReadUnknown) }
        return alpha
    }

    /// Files that are made by the encoder and by ``AVIFBuilder``, each of another kind.
    enum SampleFile: String, CaseIterable, Sendable {
        case lossless, alpha, subsampled, deep, gray, sequence, grid, rotated, metadata

        func data() throws -> Data {
            let size = PixelSize(width: 21, height: 15)
            let lossless = AVIFEncoder(compression: .lossless, speed: 10)
            switch self {
            case .lossless: return try lossless.encode(DecodedImage(pixels: samplePixels(size)))
            case .alpha: return try lossless.encode(DecodedImage(pixels: samplePixels(size, alpha: true)))
            case .subsampled:
                let encoder = AVIFEncoder(compression: .lossy(quality: 50), speed: 10)
                return try encoder.encode(DecodedImage(pixels: samplePixels(size)))
            case .deep: return try lossless.encode(DecodedImage(pixels: deepPixels(size)))
            case .gray: return try lossless.encode(DecodedImage(pixels: grayPixels(size)))
            case .sequence: return try sequenceFile(frameCount: 4)
            case .grid: return try Self.gridBuilder().data
            case .rotated:
                return try lossless.encode(DecodedImage(pixels: samplePixels(size), orientation: .leftMirrored))
            case .metadata:
                // EXIF is stored after the pixels.
                var builder = AVIFBuilder()
                builder.add(try CodedImage(samplePixels(size)), [AVIFBuilder.rgb])
                builder.add("Exif", [0, 0, 0, 0] + ImageOrientation.right.exif)
                builder.refer("cdsc", from: 2, to: [1])
                return builder.data
            }
        }

        /// Returns an image of 128 × 100 pixels from four tiles, with further properties.
        static func gridBuilder(properties: [[UInt8]] = []) throws -> AVIFBuilder {
            var builder = AVIFBuilder()
            let side = PixelSize(width: 64, height: 64)
            let whole = try samplePixels(PixelSize(width: 128, height: 128))
            builder.addGrid(
                columns: 2, rows: 2, size: PixelSize(width: 128, height: 100),
                properties: [AVIFBuilder.rgb] + properties)
            for (x, y) in [(0, 0), (64, 0), (0, 64), (64, 64)] {
                let tile = try cropped(whole, x: x, y: y, width: side.width, height: side.height)
                builder.add(try CodedImage(tile), [AVIFBuilder.rgb])
            }
            builder.refer("dimg", from: 1, to: [2, 3, 4, 5])
            return builder
        }
    }

    /// Returns the pixels of frame `index` of ``sequenceFile(frameCount:)``.
    func sequenceFrame(_ index: Int) throws -> PixelBuffer {
        let pixels = try samplePixels(PixelSize(width: 21 + index, height: 15))
        return try cropped(pixels, x: index, y: 0, width: 21, height: 15)
    }

    /// Returns a lossless sequence of opaque frames with durations of 40, 50, 60 and more milliseconds.
    func sequenceFile(frameCount: Int) throws -> Data {
        let frames = try (0..<frameCount).map { index in
            (pixels: Optional(try sequenceFrame(index)), delay: Duration.milliseconds(40 + 10 * index))
        }
        let source = MadeFrames(PixelSize(width: 21, height: 15), frames)
        let encoder = AVIFEncoder(compression: .lossless, speed: 10)
        return try encoder.encode(DecodedImage(pixels: try sequenceFrame(0), frames: source))
    }

    /// Returns opaque RGBA16 pixels whose samples have 12 significant bits.
    func deepPixels(_ size: PixelSize) throws -> PixelBuffer {
        let pixels = PixelBuffer(size: size, format: .rgba16, alphaMode: .opaque) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    for (channel, value) in [x * 120, y * 190, 4095 - x * 11, 4095].enumerated() {
                        // The 12 bits are spread over the whole range of 16 bits.
                        let sample = UInt16((value * 65_535 + 2047) / 4095)
                        memory.storeBytes(of: sample, toByteOffset: y * stride + 8 * x + 2 * channel, as: UInt16.self)
                    }
                }
            }
        }
        guard let pixels else { throw CocoaError(.fileReadUnknown) }
        return pixels
    }

    /// Whether two images have the same samples of 16 bits, except for differences of one, which are those of rounding
    /// 12 bits to 16 bits in floating point.
    func haveEqualDeepSamples(_ first: PixelBuffer, _ second: PixelBuffer) -> Bool {
        func samples(_ pixels: PixelBuffer) -> [Int] {
            pixels.tightBytes.withUnsafeBytes { bytes in
                (0..<bytes.count / 2).map { Int(bytes.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self)) }
            }
        }
        return first.size == second.size && first.format == .rgba16 && second.format == .rgba16
            && zip(samples(first), samples(second)).allSatisfy { abs($0 - $1) <= 1 }
    }

    /// Returns gray pixels.
    func grayPixels(_ size: PixelSize) throws -> PixelBuffer {
        let pixels = PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width { memory[y * stride + x] = UInt8(truncatingIfNeeded: 11 * x + 3 * y) }
            }
        }
        guard let pixels else { throw CocoaError(.fileReadUnknown) }
        return pixels
    }
#endif
