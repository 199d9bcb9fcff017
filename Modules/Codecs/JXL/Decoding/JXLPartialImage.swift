#if JXL
    import AlcedoCore
    import AlcedoLibc
    import AlcedoRuntime
    import CJXLShim

    /// An image, or the first frame of an animation, that is decoded while its bytes arrive: pass by pass, and within a
    /// pass by groups of 256 × 256 pixels or more.
    final class JXLPartialImage {
        private let reader: JXLReader
        private let header: JXLHeader
        private let options: DecodingOptions
        private let format: PixelFormat
        private let frames: JXLFrameCheck
        /// The rows of a pixel buffer, which libjxl writes.
        private let memory: UnsafeMutableRawBufferPointer
        private var stage = Stage.frame
        /// The number of bytes at the last call of ``advance(_:isEnd:)`` that produced pixels.
        private var shownByteCount = 0
        /// The digest of the pixels at that call, or that of the cleared memory.
        private var shownDigest: UInt64 = 0
        /// The number of complete passes.
        private var passCount = 0

        private enum Stage { case frame, pixels, complete, failed }

        /// Reads the header.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``.
        init(_ file: JXLFile, options: DecodingOptions) throws(ImageDecodingError) {
            header = file.header
            self.options = options
            format = header.format(for: options.pixelFormat)
            frames = try JXLFrameCheck(file.header, options.limits)
            let buffers = file.header.bufferByteCount(options, isIncremental: true)
            reader = try file.makeReader(ALCEDO_JXL_PASSES, beside: buffers)
            guard let count = PixelBuffer.byteCount(size: header.size, format: format), let base = calloc(count, 1)
            else { throw ImageDecodingError.noMemory(for: header.size) }
            memory = UnsafeMutableRawBufferPointer(start: base, count: count)
            // libjxl reports success also when it has drawn nothing yet. Cleared memory can be a black gray image, but
            // no image with opaque pixels.
            if !format.isGray { shownDigest = digest }
        }

        deinit { free(memory.baseAddress) }

        private var digest: UInt64 { XXH64.hash(UnsafeRawBufferPointer(memory).bytes) }

        /// The number of the pass that the pixels show, from 1.
        var pass: Int { max(1, passCount) }

        /// Decodes as much as has arrived. `bytes` must begin at the start of the file. Returns whether there are new
        /// pixels. Few new bytes are not shown unless they are the last ones.
        ///
        /// - Throws: `outOfMemory`. Damaged bytes end the image, and are reported when the whole file is decoded.
        func advance(
            _ bytes: UnsafeBufferPointer<UInt8>, isEnd: Bool = false
        ) throws(ImageDecodingError) -> Bool {
            guard stage == .frame || stage == .pixels else { return false }
            do throws(ImageDecodingError) {
                try frames.check(bytes, in: JXLContainer(bytes))
                reader.feed(bytes)
                return try decode(byteCount: bytes.count, isEnd: isEnd)
            } catch {
                // More bytes are needed for the header of the frame.
                guard error.code != .truncated else { return false }
                stage = .failed
                if error.code == .outOfMemory { throw error }
                return false
            }
        }

        private func decode(byteCount: Int, isEnd: Bool) throws(ImageDecodingError) -> Bool {
            if stage == .frame {
                guard try reader.nextFrame() != nil else { return false }
                stage = .pixels
            }
            var hasNewPass = false
            while true {
                switch try reader.readPixels(format, into: memory) {
                case .complete:
                    stage = .complete
                    passCount += 1
                    return true
                case .pass:
                    hasNewPass = true
                    passCount += 1
                case .waiting:
                    // Each preview draws the whole image again, so groups are shown after many more bytes only.
                    guard isEnd || hasNewPass || byteCount - shownByteCount > max(4_096, shownByteCount / 8)
                    else {
                        return false
                    }
                    guard reader.flush() else { return false }
                    shownByteCount = byteCount
                    let digest = digest
                    defer { shownDigest = digest }
                    return digest != shownDigest
                }
            }
        }

        /// Returns the pixels as the options request, in stored orientation.
        func pixels() throws(ImageDecodingError) -> PixelBuffer {
            let copy = PixelBuffer(size: header.size, format: format, alphaMode: .straight) { target, _ in
                target.copyMemory(from: UnsafeRawBufferPointer(memory))
            }
            guard let copy else { throw ImageDecodingError.noMemory(for: header.size) }
            return try header.converted(copy, options)
        }
    }
#endif
