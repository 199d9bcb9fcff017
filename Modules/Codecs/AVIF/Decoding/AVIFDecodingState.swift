#if AVIF
    import AlcedoCore
    import FoundationEssentials

    /// The state of an image whose bytes arrive in pieces.
    ///
    /// All bytes are kept, and the final image is decoded from them at the end. Previews are decoded only when they are
    /// requested. If the file has a thumbnail whose bytes have arrived, the first preview can show it before there are
    /// rows, and it stands for missing rows.
    final class AVIFDecodingState: IncrementalDecodingState {
        private let options: DecodingOptions
        private let threadCount: Int
        private var data = Data()
        private var container = AVIFContainer()
        private var header: AVIFHeader?
        private var partialImage: AVIFPartialImage?
        /// The number of bytes from which reading the header is tried again. libavif also reads the layout of a grid,
        /// which is stored with the pixels.
        private var nextAttempt = 0
        /// The thumbnail of the file until it is decoded.
        private var thumbnail: AVIFThumbnail?
        private var thumbnailByteCount = 0
        private var background: PreviewBackground?
        /// Whether the thumbnail was decoded and has not been shown.
        private var isThumbnailNew = false

        init(options: DecodingOptions, threadCount: Int) {
            self.options = options
            self.threadCount = threadCount
        }

        var info: ImageInfo? { header?.info }

        var decodingByteCount: Int? {
            header.map { $0.byteCount(options, isIncremental: true) + thumbnailByteCount }
        }

        func append(_ bytes: Data) throws(ImageDecodingError) {
            if data.isEmpty { data = bytes } else { data.append(bytes) }
            guard header == nil, !data.isEmpty else { return }
            try data.withDecoderInput(of: "AVIF") { bytes throws(ImageDecodingError) in
                container.advance(bytes)
                guard container.hasHeader, !container.isMissingBoxes, bytes.count >= nextAttempt else { return }
                do throws(ImageDecodingError) {
                    let file = try AVIFFile(bytes, limits: options.limits)
                    try file.check(options.limits, format: file.header.format(for: options.pixelFormat))
                    header = file.header
                    // A thumbnail has no alpha.
                    if file.header.frameCount == 1, !file.header.hasAlpha { thumbnail = AVIFThumbnail(bytes) }
                    thumbnailByteCount = thumbnail?.byteCount ?? 0
                } catch {
                    if error.code == .exceedsLimit || error.code == .outOfMemory { throw error }
                    // The steps grow, so the number of attempts is logarithmic.
                    nextAttempt = bytes.count + bytes.count / 8 + 16
                }
            }
        }

        func preview() throws(ImageDecodingError) -> ImagePreview? {
            guard let header else { return nil }
            return try data.withDecoderInput(of: "AVIF") { bytes throws(ImageDecodingError) in
                if partialImage == nil {
                    partialImage = try? AVIFPartialImage(bytes, container, options: options)
                }
                let hasNewPixels = try partialImage?.advance(bytes) ?? false
                let rowCount = partialImage?.completeRowCount ?? 0
                let isComplete = partialImage?.pixels.map { $0.height == rowCount } ?? false
                if !isComplete { decodeThumbnail(for: header, bytes) }
                if hasNewPixels, let partialImage, var pixels = partialImage.pixels {
                    if !isComplete { background?.fill(&pixels, from: rowCount) }
                    return ImagePreview(
                        image: try header.image(pixels, options), pass: partialImage.pass, rowCount: rowCount)
                }
                return partialImage?.pixels == nil ? try thumbnailPreview(header) : nil
            }
        }

        /// Decodes the thumbnail when its bytes have arrived.
        private func decodeThumbnail(for header: AVIFHeader, _ bytes: UnsafeBufferPointer<UInt8>) {
            guard let thumbnail, thumbnail.end <= bytes.count else { return }
            self.thumbnail = nil
            background = thumbnail.background(for: header, bytes, options.pixelFormat)
            isThumbnailNew = background != nil
        }

        /// Returns a preview that has no rows of the image yet, once.
        private func thumbnailPreview(_ header: AVIFHeader) throws(ImageDecodingError) -> ImagePreview? {
            guard isThumbnailNew else { return nil }
            isThumbnailNew = false
            var stored = options
            stored.appliesOrientation = false
            guard let pixels = background?.pixels(header.decodedSize(stored)) else { return nil }
            return ImagePreview(image: try header.image(pixels, options), rowCount: 0)
        }

        func finish() throws(ImageDecodingError) -> DecodedImage {
            (partialImage, thumbnail, background) = (nil, nil, nil)
            // EXIF and XMP may be stored after the pixels.
            let image = try OpenedAVIF(data, limits: options.limits, threadCount: threadCount)
            header = image.properties
            return try image.decode(options)
        }
    }

    extension AVIFHeader {
        /// Returns the image for stored pixels, with the orientation applied when the options request it.
        func image(_ pixels: PixelBuffer, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let isUpright = options.appliesOrientation
            return DecodedImage(
                pixels: isUpright ? try pixels.upright(from: orientation) : pixels, colorProfile: sampleProfile,
                orientation: isUpright ? .up : orientation, format: .avif)
        }
    }
#endif
