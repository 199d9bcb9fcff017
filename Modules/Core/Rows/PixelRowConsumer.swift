/// Takes the rows of a picture one after another, top row first, so that work on a picture needs memory for rows only.
///
/// A decoder calls ``begin(_:)`` once, then ``consume(_:)`` once for every row, then ``finish()``. When decoding fails,
/// or a call throws, no further call follows. All calls come from one thread at a time. Consumers form chains: a
/// resizer hands what it makes to the next, and an encoder ends the chain.
public protocol PixelRowConsumer: AnyObject {
    /// Prepares for rows of this size and format. Called after the limits were checked.
    ///
    /// Throws what makes the rows useless to it, which ends the decoding and is its error; so do the others.
    func begin(_ header: PixelRowHeader) throws

    /// Takes the next row: ``PixelRowHeader/bytesPerRow`` bytes, valid during the call only.
    ///
    /// Throws as ``begin(_:)``.
    func consume(_ row: RawSpan) throws

    /// Ends the picture. Called only when every row has come and the file was found whole.
    ///
    /// Throws as ``begin(_:)``.
    func finish() throws
}
