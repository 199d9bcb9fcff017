#if SVG
    import AlcedoCore
    import AlcedoRuntime
    import CSVGShim

    /// A document and the size at which it is drawn.
    struct SVGDrawing {
        private let document: SVGDocument
        let size: PixelSize

        /// Creates the drawing that the options request: of the natural size, or scaled to the target.
        init(_ document: SVGDocument, target: TargetSize?) {
            self.document = document
            guard let target, target.size.isPositive else {
                size = document.size.pixels
                return
            }
            let (width, height) = (document.size.width, document.size.height)
            let factors = (Double(target.size.width) / width, Double(target.size.height) / height)
            let factor = target.mode == .fit ? min(factors.0, factors.1) : max(factors.0, factors.1)
            let side = { (length: Double) in Int(min(max(1, (length * factor).rounded()), 1e9)) }
            size = PixelSize(width: side(width), height: side(height))
        }

        /// The position of the drawing in that of the natural size; nil if it is not smaller.
        var reduction: ImageReduction? {
            let full = document.size.pixels
            guard size.width <= full.width, size.height <= full.height, size != full else { return nil }
            return ImageReduction(of: full, exactly: size)
        }

        /// The number of pixels for a pixel inside the view box.
        private var scale: Double {
            let factors = (Double(size.width) / document.size.width, Double(size.height) / document.size.height)
            return max(factors.0, factors.1) * document.viewBoxScale
        }

        /// The number of bytes of the result, and of the surfaces, tiles and images at the same time. `Int.max` when it
        /// overflows.
        private var pixelByteCount: Int {
            let result = PixelBuffer.byteCount(size: size, format: .rgba8) ?? Int.max
            let other = document.cost.byteCount(pixelCount: size.pixelCount, scale: scale)
            return Int(clamping: Double(result) + other)
        }

        /// The maximum number of bytes that drawing holds: those of cairo's image as well, and those of librsvg's
        /// document.
        var byteCount: Int {
            let image = 4 * Double(size.pixelCount)
            let tree = DrawingTime.elementByteCount * Double(document.elementCount) + 12 * Double(document.bytes.count)
            return Int(clamping: Double(pixelByteCount) + image + tree + Double(document.inflatedByteCount))
        }

        /// Checks the limits before anything is allocated.
        ///
        /// - Throws: `exceedsLimit`, also when drawing would take much longer than the time limit.
        func check(_ limits: DecodingLimits, timeLimit: Duration) throws(ImageDecodingError) {
            try limits.check(size, format: .rgba8)
            guard max(size.width, size.height) <= Int(ALCEDO_SVG_MAXIMUM_SIDE) else {
                throw ImageDecodingError(
                    .exceedsLimit, "SVG: \(size) pixels exceed the limit of \(ALCEDO_SVG_MAXIMUM_SIDE) pixels on a side"
                )
            }
            guard byteCount <= limits.maximumByteCount else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "SVG: \(byteCount.byteCountText) of pixels, layers, patterns, images and elements exceed the limit "
                        + "of \(limits.maximumByteCount) bytes (DecodingLimits.maximumByteCount)")
            }
            let time = document.cost.time(pixelCount: size.pixelCount, scale: scale)
            guard time <= Double(timeLimit.nanoseconds) * DrawingTime.tolerance else {
                throw ImageDecodingError(
                    .exceedsLimit, "SVG: drawing \(size) pixels would take much longer than \(timeLimit)")
            }
        }

        /// Draws the document.
        ///
        /// - Throws: `timedOut` after the time limit; `exceedsLimit` when the document exceeds a limit of librsvg;
        ///   `corrupt` when librsvg rejects the document; `decoderFailed` when librsvg panics; `outOfMemory`. Canceling
        ///   the task while the document waits for others, which exceed their time limit, is `decoderUnavailable`.
        func pixels(
            timeLimit: Duration, isPremultiplied: Bool
        ) throws(ImageDecodingError) -> PixelBuffer {
            var settings = alcedo_svg_settings()
            (settings.width, settings.height) = (UInt32(size.width), UInt32(size.height))
            (settings.document_width, settings.document_height) = (document.size.width, document.size.height)
            settings.time_limit = UInt64(clamping: timeLimit.nanoseconds)
            settings.is_light = isLight(timeLimit) ? 1 : 0
            settings.is_canceled = { BlockingExecutor.isWorkCanceled ? 1 : 0 }
            let drawing = document.bytes.withUnsafeBufferPointer { bytes in
                bytes.baseAddress.flatMap { alcedo_svg_draw($0, bytes.count, &settings) }
            }
            guard let drawing else { throw ImageDecodingError.noMemory(for: size) }
            defer { alcedo_svg_release(drawing) }
            try check(drawing, timeLimit)
            let isOpaque = alcedo_svg_is_opaque(drawing) != 0
            let alphaMode: AlphaMode = isOpaque ? .opaque : isPremultiplied ? .premultiplied : .straight
            let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: alphaMode) { memory, stride in
                guard let base = memory.baseAddress else { return }
                alcedo_svg_copy(drawing, isPremultiplied ? 1 : 0, base.assumingMemoryBound(to: UInt8.self), stride)
            }
            guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
            return pixels
        }

        /// Returns whether drawing takes at most some tenths of a second, even when each element and each character
        /// covers the whole image or the whole of an embedded image, and all outlines cross each other. Such a document
        /// is drawn without the cost of another thread.
        func isLight(_ timeLimit: Duration) -> Bool {
            let cost = document.cost
            let time = cost.time(pixelCount: size.pixelCount, scale: scale)
            let pixelCount = Double(size.pixelCount) + cost.imageByteCount / 8
            return time <= min(Double(timeLimit.nanoseconds), 100_000_000) && cost.depth <= 30
                && cost.segmentCount <= 400 && cost.dashCount <= 1_000
                && (cost.elementCount + cost.characterCount) * pixelCount <= 100_000_000
                && cost.gradientCount * pixelCount <= 2_000_000
        }

        private func check(_ drawing: OpaquePointer, _ timeLimit: Duration) throws(ImageDecodingError) {
            let reason = String(cString: alcedo_svg_message(drawing))
            switch alcedo_svg_result(drawing) {
            case ALCEDO_SVG_OK: return
            case ALCEDO_SVG_TIMEOUT:
                throw ImageDecodingError(.timedOut, "SVG: drawing takes longer than \(timeLimit)")
            case ALCEDO_SVG_LIMIT: throw ImageDecodingError(.exceedsLimit, "SVG: cannot draw the document: \(reason)")
            case ALCEDO_SVG_CANCELED:
                throw ImageDecodingError(
                    .decoderUnavailable,
                    "SVG: canceled while earlier documents still used the decoder after their time limit")
            case ALCEDO_SVG_PANIC: throw ImageDecodingError(.decoderFailed, "SVG: \(reason)")
            case ALCEDO_SVG_OUT_OF_MEMORY: throw ImageDecodingError.noMemory(for: size)
            default: throw ImageDecodingError(.corrupt, "SVG: cannot draw the document: \(reason)")
            }
        }
    }

    extension Duration {
        /// The number of nanoseconds; at least 0, and at most about 292 years.
        fileprivate var nanoseconds: Int64 {
            let (seconds, attoseconds) = components
            guard seconds >= 0, attoseconds >= 0 else { return 0 }
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let (sum, isTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
            return overflow || isTooLarge ? .max : sum
        }
    }

    extension Int {
        /// Returns the whole number nearest to zero from the value, within the range of the type.
        fileprivate init(clamping value: Double) {
            self = value < 9e18 ? Int(Swift.max(value, 0)) : .max
        }
    }
#endif
