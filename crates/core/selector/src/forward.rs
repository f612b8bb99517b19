/// Implements methods of a trait by those of a field, for a poller that differs from another one in a few:
/// `selector::forward!(inner { fn remove(&self, fd: RawFd) -> Changed; });`
#[macro_export]
macro_rules! forward {
    ($inner:ident { $(fn $method:ident(&self $(, $name:ident: $type:ty)*) -> $answer:ty;)+ }) => {
        $(fn $method(&self $(, $name: $type)*) -> $answer {
            self.$inner.$method($($name),*)
        })+
    };
}
