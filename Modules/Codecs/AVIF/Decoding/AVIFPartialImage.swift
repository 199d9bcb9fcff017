#if AVIF
    import AlcedoCore

    /// An image that is decoded while its bytes arrive: layer by layer, and a grid by rows of tiles. Other images
    /// become visible when all of their bytes have arrived.
    final class AVIFPartialImage {
        private let reader: AVIFReader
        private let header: AVIFHeader
        private let rows: AVIFRows
        private var nextLayer = 0
        private var hasFailed = false
        /// The stored pixels of the last layer or rows, before the orientation is applied.
        private(set) var pixels: PixelBuffer?
        /// The number of decoded rows of the coded image.
        private var rowCount = 0

        /// Reads the properties at the beginning of a file.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``.
        init(
            _ bytes: UnsafeBufferPointer<UInt8>, _ container: AVIFContainer, options: DecodingOptions
        ) throws(ImageDecodingError) {
            reader = try AVIFReader(nil, container, limits: options.limits, readsMetadata: false)
            reader.feed(bytes)
            header = try AVIFHeader(reader, container, limits: options.limits)
            rows = AVIFRows(reader, header, options: options)
        }

        /// The number of complete rows of ``pixels``, from the top.
        var completeRowCount: Int {
            let visible = min(max(0, rowCount - header.crop.y), header.crop.size.height)
            return (pixels?.height ?? 0) * visible / header.crop.size.height
        }

        /// The number of the last decoded layer, from 1.
        var pass: Int { max(1, nextLayer) }

        /// Decodes as many layers or rows as have arrived. `bytes` must begin at the start of the file. Returns whether
        /// there are new pixels.
        ///
        /// - Throws: `outOfMemory`. Damaged bytes end the image, and are reported when the whole file is decoded.
        func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Bool {
            guard !hasFailed, nextLayer < header.layerCount else { return false }
            reader.feed(bytes)
            var isChanged = false
            do throws(ImageDecodingError) {
                while nextLayer < header.layerCount {
                    guard try reader.readFrame(nextLayer) else {
                        return try takeRows() || isChanged
                    }
                    pixels = try rows.pixels(isOpaque: reader.isOpaque(header))
                    rowCount = header.codedSize.height
                    nextLayer += 1
                    isChanged = true
                }
            } catch {
                if error.code == .outOfMemory { throw error }
                hasFailed = true
            }
            return isChanged
        }

        /// Takes the rows of a grid without layers that have arrived.
        private func takeRows() throws(ImageDecodingError) -> Bool {
            let count = nextLayer == 0 ? reader.rowCount : 0
            guard count > rowCount else { return false }
            pixels = try rows.partialPixels(rowCount: count)
            rowCount = count
            return true
        }
    }
#endif
