/// A decoder of a format whose files can have several pages, of which it decodes one.
///
/// Pages are no frames: each has a size and properties of its own, and an image that is decoded has no animation.
package protocol PageDecoding: ImageDecoding {
    /// The index of the page. The first page is 0. A page that the file does not have is an error of
    /// ``ImageDecoding/open(_:limits:)``.
    var page: Int { get set }
}

// Types are tested here, and not by requirements of `ImageDecoding`, so that decoders of other formats, also those of
// apps, need not know of pages.
extension ImageDecoding {
    /// The index of the page that is decoded; 0 for a decoder of a format without pages.
    package var selectedPage: Int { (self as? any PageDecoding)?.page ?? 0 }

    /// Returns a decoder of another page, or this decoder if its format has no pages.
    package func selecting(page: Int) -> any ImageDecoding {
        guard var decoder = self as? any PageDecoding else { return self }
        decoder.page = page
        return decoder
    }
}
