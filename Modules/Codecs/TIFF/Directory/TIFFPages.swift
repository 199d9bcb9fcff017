#if TIFF
    public import AlcedoCore
    public import FoundationEssentials

    /// The pages of a TIFF document.
    ///
    /// ```swift
    /// for page in 0..<(try TIFFPages.count(in: data)) {
    ///     show(try CodecRegistry([.tiff(page: page)]).decode(data))
    /// }
    /// ```
    public enum TIFFPages {
        /// Returns the number of pages that `tiff(page:)` can decode, at least 1.
        ///
        /// Reduced images and masks, which are stored like pages and marked, are not counted, unless there are no
        /// others. Pages after the first damaged one are not found, and no more than
        /// ``/AlcedoCore/DecodingLimits/maximumFrameCount`` are. The images on the pages are not checked.
        ///
        /// - Parameters:
        ///   - data: A TIFF file.
        ///   - limits: The limits. Default: those of `DecodingLimits`.
        /// - Throws: ``/AlcedoCore/ImageDecodingError`` when the file has no first page, or another format.
        /// - Complexity: O(pages).
        public static func count(
            in data: Data, limits: DecodingLimits = DecodingLimits()
        ) throws(ImageDecodingError) -> Int {
            try data.withDecoderInput(of: "TIFF") { bytes throws(ImageDecodingError) in
                try TIFFStructure(bytes, limits: limits).pages.count
            }
        }
    }
#endif
