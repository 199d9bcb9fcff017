#if AVIF
    import AlcedoCore
    import AlcedoRuntime

    /// The frames of a sequence, decoded on demand.
    ///
    /// Memory: the encoded file, the planes of the frame, and the up to eight reference frames of AV1. The next frame
    /// is decoded from the previous one. A jump decodes all frames from the last key frame.
    ///
    /// `@unchecked` because libavif's decoder is not `Sendable`. All access to it is protected by `lock`, which is held
    /// while a frame is decoded, because calls run one at a time.
    final class AVIFAnimation: ImageFrameSource, @unchecked Sendable {
        private let lock = Locked(())
        // Properties are released in the order of their declarations, so the bytes outlive the decoder that reads them.
        private let file: AVIFFile
        private let bytes: CopiedBytes
        private let options: DecodingOptions
        private let delays: [Duration]
        private let found: FrameDamage
        let canvasSize: PixelSize
        let cost: Int

        /// Creates the frames whose bytes are present.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, for damaged properties and exceeded limits, and `truncated`
        ///   when no frame is present.
        init(
            _ data: UnsafeBufferPointer<UInt8>, options: DecodingOptions, threadCount: Int, readsAlpha: Bool
        ) throws(ImageDecodingError) {
            bytes = try CopiedBytes(data, of: "AVIF")
            file = try AVIFFile(
                bytes.bytes, limits: options.limits, threadCount: threadCount, readsAlpha: readsAlpha)
            self.options = options
            let header = file.header
            try file.check(options.limits, format: header.format(for: options.pixelFormat))
            let count = !file.isTruncated ? header.frameCount : file.availableFrameCount(byteCount: data.count)
            guard count > 0 else { throw ImageDecodingError(.truncated, "AVIF: the data ends within the first frame") }
            delays = Array(header.delays.prefix(count))
            found = FrameDamage(frameCount: delays.count)
            canvasSize = header.decodedSize(options)
            cost = data.count + 9 * header.planeByteCount
        }

        var frameCount: Int { found.frameCount }

        var damage: ImageDamage? { found.worst }

        var storedSize: PixelSize { file.header.codedSize }

        /// The number of plays. A file that does not state it plays forever, as in browsers.
        var playCount: Int? { file.header.playCount.flatMap { $0 == 0 ? nil : $0 } }

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
            guard try file.reader.readFrame(index) else {
                throw ImageDecodingError(.truncated, "AVIF: the data ends within frame \(index)")
            }
            let isOpaque = file.reader.isOpaque(file.header)
            let pixels = try AVIFRows(file.reader, file.header, options: options).pixels(isOpaque: isOpaque)
            return options.appliesOrientation ? try pixels.upright(from: file.header.orientation) : pixels
        }
    }

    extension AVIFAnimation {
        /// Returns the image whose pixels are those of the first frame, without the other frames.
        func image(_ first: PixelBuffer) -> DecodedImage {
            DecodedImage(
                pixels: first, colorProfile: file.header.sampleProfile,
                orientation: options.appliesOrientation ? .up : file.header.orientation, format: .avif)
        }
    }

    extension AVIFHeader {
        /// Returns the size of the image that is decoded with these options.
        func decodedSize(_ options: DecodingOptions) -> PixelSize {
            let size = BoxReduction(from: crop.size, orientation: orientation, towards: options.averagingTarget).size(
                of: crop.size)
            return options.appliesOrientation && orientation.swapsSides ? size.transposed : size
        }

        /// The number of bytes of the planes of a frame, with the rows that AV1 adds at the edges.
        var planeByteCount: Int {
            let planes = (isMonochrome ? 1 : 3) + (hasAlpha ? 1 : 0)
            return codedSize.codedPixelCount * planes * sampleByteCount
        }

        /// The maximum number of bytes of the planes of the coded items, with the rows and columns that AV1 adds at the
        /// edges. libavif 0.11 keeps those of all tiles of a grid until the last one is decoded.
        var tileByteCount: Int { tilePlaneCount * min(tiles.codedPixelCount, Int(UInt32.max)) * sampleByteCount }

        /// The number of bytes of the planes of the coded items as the file declares them: at most eight for each pixel
        /// of an image that is not a grid.
        var declaredTileByteCount: Int { tilePlaneCount * min(tiles.pixelCount, Int(UInt32.max)) * sampleByteCount }

        private var tilePlaneCount: Int { (isMonochrome ? 1 : 3) * tiles.colorCount + tiles.alphaCount }

        private var sampleByteCount: Int { bitDepth > 8 ? 2 : 1 }
    }
#endif
