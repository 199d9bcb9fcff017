#if JXL
    import AlcedoCore
    import AlcedoRuntime
    import CJXLShim

    /// The frames of an animation, decoded on demand.
    ///
    /// Memory: the encoded file and, in libjxl, the planes of the frame and of up to four earlier frames. The next
    /// frame is decoded from the previous one. A jump forward decodes only frames that later ones can refer to. A jump
    /// backward begins with the first frame.
    ///
    /// `@unchecked` because libjxl's decoder is not `Sendable`. All access to it is protected by `lock`, which is held
    /// while a frame is decoded, because calls run one at a time.
    final class JXLAnimation: ImageFrameSource, @unchecked Sendable {
        private let lock = Locked(())
        private let bytes: CopiedBytes
        private let file: JXLFile
        private let options: DecodingOptions
        private let delays: [Duration]
        private let found: FrameDamage
        private var reader: JXLReader?
        /// The index of the frame that the reader decodes next.
        private var nextIndex = 0
        let canvasSize: PixelSize
        let cost: Int
        /// The damage of a file whose end is missing or damaged, which ends the animation; nil when none was found.
        let imageDamage: ImageDamage?

        /// Creates the frames whose bytes are present, which are copied.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, for exceeded limits, and `truncated` when no frame is present.
        init(_ opened: JXLFile, options: DecodingOptions) throws(ImageDecodingError) {
            bytes = try CopiedBytes(opened.bytes, of: "JPEG XL")
            var file = opened
            file.bytes = bytes.bytes
            self.file = file
            self.options = options
            let header = file.header
            let missingEnd =
                file.hasAllFrames
                ? try Self.missingEnd(bytes, frameCount: header.frameCount, limits: options.limits) : nil
            imageDamage = .worst(
                file.structureDamage ?? missingEnd.map { ImageDamage(.harmless, $0) }, file.damage)
            // The bytes of a frame are present when the header of the next one is.
            let count = file.hasAllFrames && missingEnd == nil ? header.frameCount : header.frameCount - 1
            guard count > 0 else {
                throw imageDamage?.error
                    ?? ImageDecodingError(.truncated, "JPEG XL: the data ends within the first frame")
            }
            try options.limits.check(frameCount: count, of: header.size)
            delays = header.delays.isEmpty ? [.zero] : Array(header.delays.prefix(count))
            found = FrameDamage(frameCount: delays.count)
            canvasSize = header.decodedSize(options)
            cost = file.bytes.count + 6 * header.planeByteCount
        }

        /// Returns the error of a codestream that ends within its last frame, or nil.
        ///
        /// libjxl does not report where a frame ends. When it skips all frames, it consumes the byte after the file
        /// only if the last frame needs it.
        private static func missingEnd(
            _ bytes: CopiedBytes, frameCount: Int, limits: DecodingLimits
        ) throws(ImageDecodingError) -> ImageDecodingError? {
            let reader = try JXLReader(ALCEDO_JXL_LAYERS, limits: limits)
            reader.feed(bytes.paddedBytes)
            _ = try reader.readInfo()
            reader.skipFrames(limits.maximumFrameCount)
            do throws(ImageDecodingError) {
                if try reader.nextFrame() == nil, reader.remainingByteCount > 0 { return nil }
            } catch {
                guard error.code == .truncated else { throw error }
            }
            return ImageDecodingError(.truncated, "JPEG XL: the data ends within frame \(frameCount - 1)")
        }

        var frameCount: Int { found.frameCount }

        var damage: ImageDamage? { found.worst }

        /// The number of plays; nil means forever.
        var playCount: Int? { file.header.loopCount.flatMap { $0 == 0 ? nil : $0 } }

        func delay(at index: Int) -> Duration {
            delays[index] <= .milliseconds(10) ? .milliseconds(100) : delays[index]
        }

        func rawDelay(at index: Int) -> Duration { delays[index] }

        func frame(at index: Int) throws -> PixelBuffer { try pixels(at: index) }

        /// Returns a frame as the options request. Traps unless the file has the frame.
        func pixels(at index: Int) throws(ImageDecodingError) -> PixelBuffer {
            precondition(delays.indices.contains(index), "the animation has no frame \(index)")
            return try lock.withLock { _ throws(ImageDecodingError) in
                try found.frame(index) { () throws(ImageDecodingError) in try decodedPixels(at: index) }
            }
        }

        private func decodedPixels(at index: Int) throws(ImageDecodingError) -> PixelBuffer {
            let reader: JXLReader
            if let current = self.reader, nextIndex <= index {
                reader = current
            } else {
                let buffers = file.header.bufferByteCount(options, isIncremental: false)
                reader = try file.makeReader(ALCEDO_JXL_PIXELS, beside: buffers)
                nextIndex = 0
            }
            // After an error, the next call begins again with the first frame.
            self.reader = nil
            reader.skipFrames(index - nextIndex)
            let pixels = try file.header.pixels(of: reader, options)
            self.reader = reader
            nextIndex = index + 1
            return options.appliesOrientation ? try pixels.upright(from: file.header.orientation) : pixels
        }

        /// Returns the image whose pixels are those of the first frame.
        func image() throws(ImageDecodingError) -> DecodedImage {
            let header = file.header
            var image = DecodedImage(
                pixels: try pixels(at: 0), colorProfile: header.sampleProfile,
                orientation: options.appliesOrientation ? .up : header.orientation, format: .jxl)
            if frameCount > 1 { image.frames = self }
            image.damage = imageDamage
            return image
        }
    }
#endif
