#if AVIF
    import AlcedoCore
    import FoundationEssentials

    /// The state of an image whose bytes arrive in pieces.
    ///
    /// All bytes are kept, and the final image is decoded from them at the end. Previews are decoded only when they are
    /// requested.
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

        init(options: DecodingOptions, threadCount: Int) {
            self.options = options
            self.threadCount = threadCount
        }

        var info: ImageInfo? { header?.info }

        var decodingByteCount: Int? { header.map { $0.byteCount(options, isIncremental: true) } }

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
                guard let partialImage, try partialImage.advance(bytes), let pixels = partialImage.pixels else {
                    return nil
                }
                return ImagePreview(
                    image: try header.image(pixels, options), pass: partialImage.pass,
                    rowCount: partialImage.completeRowCount)
            }
        }

        func finish() throws(ImageDecodingError) -> DecodedImage {
            partialImage = nil
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
