/// The processors of this package.
///
/// Requests take them in their short form: `[.resize(width: 320), .circle()]`.
///
/// | Short form | Type | Result |
/// |--|--|--|
/// | `.resize(width:)`, `.resize(height:)`, `.resize(fitting:)`, `.resize(filling:)`, `.resize(exactly:)` | ``Resize`` | another size |
/// | `.crop(x:y:width:height:)`, `.crop(to:at:)`, `.crop(aspect:at:)` | ``Crop`` | a rectangle of the image |
/// | `.rotate(clockwise:background:)` | ``Rotate`` | the image turned by an angle |
/// | `.flip(_:)` | ``Flip`` | the mirrored image |
/// | `.orient` | ``Orient`` | upright rows |
/// | `.roundedCorners(radius:unit:border:)`, `.roundedCorners(_:border:)` | ``RoundedCorners`` | round, transparent corners |
/// | `.circle(border:)` | ``Circle`` | the circle in the middle |
/// | `.blur(sigma:)` | ``GaussianBlur`` | a blurred image |
/// | `.tint(_:mode:)` | ``Tint`` | a color over the image |
/// | `.overlay(_:at:offset:mode:opacity:)` | ``Overlay`` | another image over the image |
/// | `.adjust(brightness:contrast:saturation:)` | ``ColorAdjustment`` | other brightness, contrast and saturation |
/// | `.grayscale` | ``Grayscale`` | the luminance |
/// | `.flatten(onto:)` | ``Flatten`` | an opaque background |
/// | `.everyFrame(_:)` | ``EveryFrame`` | every frame of an animation processed |
/// | `.firstFrame` | ``FirstFrame`` | a still image |
/// | `.stillImagesOnly(_:)` | ``StillImagesOnly`` | still images processed, animations unchanged |
/// | `.closure(identifier:_:)` | ``Closure`` | the result of an app's function on images |
/// | `.pixelClosure(identifier:_:)` | ``PixelClosure`` | the result of an app's function on pixels |
/// | `.composition(_:)` | ``Composition`` | several processors, one after another |
public enum ImageProcessors {}
